import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readConfig, withConfig } from './config.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'stepfast-config-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const config = (text: string) => {
  writeFileSync(join(directory, 'config.yaml'), text);
  return readConfig(directory);
};

test('a project without a file, and an empty one, set nothing', () => {
  expect(readConfig(directory)).toEqual({});
  expect(config('# nothing\n')).toEqual({});
});

test('what a project sets holds where a workflow is silent', () => {
  const set = config('boundaries: require\nkeep: false\nbriefing: { budget: 3000 }\n');
  const definition = { name: 'a', description: 'd', steps: [], keep: true };
  expect(withConfig(definition, set)).toMatchObject({ boundaries: 'require', keep: true });
});

test.each([
  ['boundarys: off', "Write 'boundaries'"],
  ['boundaries: never', 'prefer, require or off'],
  ['keep: maybe', 'true or false'],
  ['todo_path: ../TODO.md', 'a path inside the project'],
  ['todo_path: /etc/motd', 'a path inside the project'],
  ['todo_path: .', 'a path inside the project'],
  ['state_mirror: ./', 'a path inside the project'],
  ['briefing: { budget: many }', '{ budget: 2500 }'],
  ['briefing: { budget: 2499 }', '{ budget: 2500 } or more'],
  ['server: not an address', 'an address'],
  ['- a', 'a list of keys'],
  ['a: [', 'not valid YAML'],
])('%s is refused with what to write', (text, advice) => {
  expect(() => config(text)).toThrow(advice);
});
