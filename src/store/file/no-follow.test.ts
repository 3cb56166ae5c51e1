import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { appendOwnFile, writeOwnFile } from './no-follow.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'stepfast-own-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

test('a file is made, written anew and appended to', () => {
  const file = join(directory, 'log');
  appendOwnFile(file, 'a\n');
  appendOwnFile(file, 'b\n');
  expect(readFileSync(file, 'utf8')).toBe('a\nb\n');
  writeOwnFile(file, 'c');
  expect(readFileSync(file, 'utf8')).toBe('c');
});

test.each([appendOwnFile, writeOwnFile])('a link is not followed (%o)', (write) => {
  const [victim, link, dangling] = ['victim', 'link', 'dangling'].map((name) => join(directory, name));
  writeFileSync(victim ?? '', 'mine');
  symlinkSync(victim ?? '', link ?? '');
  symlinkSync(join(directory, 'made'), dangling ?? '');
  for (const path of [link, dangling]) expect(() => write(path ?? '', 'theirs')).toThrow(/ELOOP/);
  expect(readFileSync(victim ?? '', 'utf8')).toBe('mine');
});
