import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readSurface } from './read-surface.ts';

const root = join(import.meta.dirname, '..', '..');

test('the built package keeps every public name of the last release', async () => {
  const names = readFileSync(join(root, 'test/fixtures/surface.txt'), 'utf8').trim().split('\n');
  const surface = await readSurface(join(root, 'dist'));
  const planted = 'cli go --never-there';
  expect([...names, planted].filter((name) => !surface.has(name))).toEqual([planted]);
});
