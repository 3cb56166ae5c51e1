import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createStamp } from '../scripts/build/stamp.ts';

function createTree() {
  const root = mkdtempSync(join(tmpdir(), 'stepfast-stamp-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const write = (file: string, text: string): void => {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
  };
  write('src/a.ts', 'a');
  write('src/inner/b.ts', 'b');
  write('package.json', '{}');
  write('dist/a.js', 'a');
  const at = (name: string): string => join(root, name);
  const stamp = createStamp(at('cache/build'), [at('src'), at('package.json')], [at('dist')]);
  return { at, write, stamp };
}

test('[R8] a build is current until a source or what was built changes, comes or goes', () => {
  const { at, write, stamp } = createTree();
  expect(stamp.isCurrent()).toBe(false);
  stamp.write();
  expect(stamp.isCurrent()).toBe(true);
  const changes: [file: string, text: string, before?: string][] = [
    ['src/a.ts', 'changed', 'a'],
    ['src/inner/b.ts', '', 'b'],
    ['src/inner/new.ts', 'new'],
    ['package.json', '{"version":"2"}', '{}'],
    ['dist/a.js', 'planted', 'a'],
    ['dist/new.js', ''],
  ];
  for (const [file, text, before] of changes) {
    write(file, text);
    expect(stamp.isCurrent(), file).toBe(false);
    if (before === undefined) rmSync(at(file));
    else write(file, before);
    expect(stamp.isCurrent(), file).toBe(true);
  }
  write('src/a.test.ts', 'a test');
  expect(stamp.isCurrent()).toBe(true);
  rmSync(at('dist'), { recursive: true });
  expect(stamp.isCurrent()).toBe(false);
});

test('after a build that failed nothing is current', () => {
  const { stamp } = createTree();
  stamp.write();
  stamp.remove();
  expect(stamp.isCurrent()).toBe(false);
});
