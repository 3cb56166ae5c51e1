import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');
const read = (file: string): string => readFileSync(join(root, 'docs', file), 'utf8');

test('every file and folder of the sources that a page names exists', () => {
  const pages = globSync(['*.md', '{docs,lab,dashboard,test}/**/*.md'], { cwd: root });
  const named = pages
    // History names what was.
    .filter((page) => page !== 'CHANGELOG.md' && !page.includes('node_modules'))
    .flatMap((page) => [
      ...readFileSync(join(root, page), 'utf8').matchAll(/`((?:src|test|scripts|lab|dashboard)\/[\w./-]+)`/g),
    ])
    // The host and the payloads that a guide has the reader write.
    .filter(([, file = '']) => !/quill|HOST/.test(file));
  expect(named.length).toBeGreaterThan(150);
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
