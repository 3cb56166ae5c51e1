import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { decidesIn } from './user-config.ts';

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'stepfast-user-'));
});
afterEach(() => rmSync(home, { recursive: true }));

test.each([
  [undefined, 'session'],
  ['', 'session'],
  ['decide: session\n', 'session'],
  ['decide: terminal\n', 'terminal'],
  ['# Mine\ndecide: "terminal" # at work\n', 'terminal'],
  ['decide: termnal\n', 'terminal'],
  ['# decide: terminal\n', 'session'],
])('%j lets a person decide in the %s', (text, expected) => {
  const folder = join(home, '.config', 'stepfast');
  mkdirSync(folder, { recursive: true });
  if (text !== undefined) writeFileSync(join(folder, 'config.yaml'), text);
  expect(decidesIn(home, {}, 'linux')).toBe(expected);
});
