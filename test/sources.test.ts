import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');
const sources = globSync(
  ['src/**/*.ts', 'test/kit/**/*.ts', 'scripts/install-hosts.ts', 'lab/try-package/*.ts', 'examples/*.ts'],
  {
    cwd: root,
  },
).filter((file) => !file.endsWith('.test.ts'));

test('nothing that the oldest Node runs as it is has `using`, which it does not know', () => {
  const using = /^\s*(?:await )?using \w+ = /m;
  expect(sources.length).toBeGreaterThan(300);
  expect(sources.filter((file) => using.test(readFileSync(join(root, file), 'utf8')))).toEqual([]);
  expect('  using opened = open();').toMatch(using);
});
