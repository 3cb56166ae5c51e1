import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');
const read = (file: string): string => readFileSync(join(root, 'docs', file), 'utf8');

test('every file that the architecture page names exists', () => {
  const named = [...read('architecture.md').matchAll(/`((?:src|hooks|test|scripts|lab)\/[\w./-]+\.\w+)`/g)];
  expect(named.length).toBeGreaterThan(40);
  expect(named.map(([, file = '']) => file).filter((file) => !existsSync(join(root, file)))).toEqual([]);
});

test('its picture has every folder of src but the test kit', () => {
  const shown = [...read('architecture.svg').matchAll(/class="name">([a-z]+)</g)].map(([, name]) => name);
  const folders = readdirSync(join(root, 'src'), { withFileTypes: true })
    .filter((each) => each.isDirectory() && each.name !== 'testing')
    .map(({ name }) => name);
  expect(shown.sort()).toEqual(folders.sort());
});

test('tests and experiments start built programs, not their sources', () => {
  // Both only read the sources.
  const readers = ['scripts/build.ts', 'src/cli/run.process.test.ts'];
  const files = globSync(['{test,lab,scripts,examples,src/testing}/**/*.ts', 'src/**/*.test.ts'], {
    cwd: root,
  });
  expect(files).toEqual(expect.arrayContaining(readers));
  const naming = files.filter((file) =>
    /^(?!import).*\b(?:main|bridge)\.ts['"`]/m.test(readFileSync(join(root, file), 'utf8')),
  );
  expect(naming.sort()).toEqual(readers);
});
