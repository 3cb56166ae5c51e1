import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { appendNoFollow, writeNoFollow } from './no-follow.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'stepfast-own-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

test('a file is created, rewritten and appended to', () => {
  const file = join(directory, 'log');
  appendNoFollow(file, 'a\n');
  appendNoFollow(file, 'b\n');
  expect(readFileSync(file, 'utf8')).toBe('a\nb\n');
  writeNoFollow(file, 'c');
  expect(readFileSync(file, 'utf8')).toBe('c');
});

test.each([appendNoFollow, writeNoFollow])('a link is not followed (%o)', (write) => {
  const [victim, link, dangling] = ['victim', 'link', 'dangling'].map((name) => join(directory, name));
  writeFileSync(victim ?? '', 'mine');
  symlinkSync(victim ?? '', link ?? '');
  symlinkSync(join(directory, 'made'), dangling ?? '');
  for (const path of [link, dangling]) expect(() => write(path ?? '', 'theirs')).toThrow(/ELOOP/);
  expect(readFileSync(victim ?? '', 'utf8')).toBe('mine');
});
