import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const src = join(import.meta.dirname, '../src');
const sources = globSync('**/*.ts', { cwd: src }).filter((file) => !file.endsWith('.test.ts'));

test('no source has `using`, which the oldest Node that runs sources does not know', () => {
  const using = /^\s*(?:await )?using \w+ = /m;
  expect(sources.length).toBeGreaterThan(300);
  expect(sources.filter((file) => using.test(readFileSync(join(src, file), 'utf8')))).toEqual([]);
  expect('  using opened = open();').toMatch(using);
});
