import { existsSync, readdirSync, readFileSync } from 'node:fs';
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
