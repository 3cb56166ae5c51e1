import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readNotifyConfig } from './notify-config.ts';
import { mayNotify } from './user-config.ts';

let home: string;
let file: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'stepfast-user-'));
  file = join(home, 'config.yaml');
});
afterEach(() => rmSync(home, { recursive: true }));

const elsewhere = '/somewhere/else';

test.each([
  ['decide: terminal\n', undefined],
  ['# notify: { bell: true }\n', undefined],
  ['notify:\n', undefined],
  ['notify: { bell: true }\n', { bell: true }],
  ['"notify" : { bell: false, command: "say hi" }\n', { bell: false, command: 'say hi' }],
  ['{"notify": {"webhook": "https://example.com/x?key=1"}}', { webhook: 'https://example.com/x?key=1' }],
  ['notify:\n  webhook: http://127.0.0.1:8080/x\n', { webhook: 'http://127.0.0.1:8080/x' }],
  ['notify:\n  webhook: http://localhost/\n', { webhook: 'http://localhost/' }],
])('[L/notify] %j is read as %j', (text, expected) => {
  writeFileSync(file, text);
  expect(readNotifyConfig(file)).toEqual(expected);
  // The quick look may be too careful, but misses nothing.
  if (expected) expect(mayNotify(file, [elsewhere], home)).toBe(true);
});

test.each([
  ['notify: bell\n', 'map'],
  ['notify: { bel: true }\n', "'bell'"],
  ['notify: { email: x }\n', 'bell, command, webhook'],
  ['notify: { bell: loud }\n', 'true or false'],
  ['notify: { command: [ls] }\n', 'shell command'],
  ['notify: { webhook: example.com }\n', 'https'],
  ['notify: { webhook: "http://example.com/" }\n', 'https'],
  ['notify: { webhook: "file:///etc/passwd" }\n', 'https'],
  ['notify: {\n', 'YAML'],
])('[L/notify] %j is refused', (text, hint) => {
  writeFileSync(file, text);
  expect(() => readNotifyConfig(file)).toThrow(
    expect.objectContaining({ code: 'bad_config', message: expect.stringContaining(hint) }),
  );
});

test('[L/notify] a file of the repository is not the one of the user, unless the repository is the home', () => {
  writeFileSync(file, 'notify: { bell: true }\n');
  expect(mayNotify(file, [home], elsewhere)).toBe(false);
  expect(mayNotify(file, [elsewhere, home], elsewhere)).toBe(false);
  expect(mayNotify(file, [home], join(home, 'ann'))).toBe(true);
  expect(mayNotify(file, [elsewhere], home)).toBe(true);
  expect(mayNotify(join(home, 'none'), [elsewhere], home)).toBe(false);
});
