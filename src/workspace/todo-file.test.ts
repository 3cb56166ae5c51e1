import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readTodoFile, type TodoPaths, writeTodoFile } from './todo-file.ts';

let root: string;
let places: TodoPaths;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'stepfast-todo-'));
  places = { worktree: join(root, 'w'), directory: join(root, 'run'), memory: join(root, 'memory') };
  mkdirSync(places.worktree);
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const read = (path: string): string => readFileSync(join(root, path), 'utf8');

test('a list is written where there was nothing, and replaced as long as it is as it was written', () => {
  expect(writeTodoFile('docs/TODO.md', 'one', places)).toBeUndefined();
  expect(writeTodoFile('docs/TODO.md', 'two', places)).toBeUndefined();
  expect(read('w/docs/TODO.md')).toBe('two');
  expect(readdirSync(join(places.worktree, 'docs'))).toEqual(['TODO.md']);
  // Another run of the same project.
  expect(
    writeTodoFile('docs/TODO.md', 'three', { ...places, directory: join(root, 'other') }),
  ).toBeUndefined();
});

test('a file that Stepfast did not write is never replaced: the list stays with the run, with a message', () => {
  writeFileSync(join(places.worktree, 'package.json'), '{}');
  expect(writeTodoFile('package.json', 'mine', places)).toContain('"package.json" already exists');
  expect(read('w/package.json')).toBe('{}');
  expect(read('run/TODO.md')).toBe('mine');
});

test('[M9] what a person wrote into the list is shown, and not overwritten before an agent has read it', () => {
  for (const path of ['TODO.md', undefined]) {
    const file = path === undefined ? 'run/TODO.md' : 'w/TODO.md';
    writeTodoFile(path, 'one', places);
    expect(readTodoFile(path, places, 'agent')).toBe('one');
    writeFileSync(join(root, file), 'one, by hand');
    expect(writeTodoFile(path, 'two', places)).toContain('edited by hand');
    expect(read(file)).toBe('one, by hand');
    expect(readTodoFile(path, places, 'person')).toBe('one, by hand');
    expect(writeTodoFile(path, 'two', places)).toBeDefined();
    expect(readTodoFile(path, places, 'agent')).toBe('one, by hand');
    expect(writeTodoFile(path, 'three', places)).toBeUndefined();
    expect(read(file)).toBe('three');
  }
});

test('[M9] a file that Stepfast did not write is not shown as the list', () => {
  writeFileSync(join(places.worktree, 'TODO.md'), 'of the project');
  expect(readTodoFile('TODO.md', places, 'agent')).toBeUndefined();
});

test('a folder in its place, and a path that leads out, keep the list with the run', () => {
  mkdirSync(join(places.worktree, 'TODO.md'));
  expect(writeTodoFile('TODO.md', 'one', places)).toContain('already exists');
  expect(writeTodoFile('../out.md', 'one', places)).toContain('leads out of the worktree');
  expect(writeTodoFile('sub/.git/config', 'one', places)).toContain('.git');
  expect(existsSync(join(root, 'out.md'))).toBe(false);
  expect(writeTodoFile(undefined, 'two', places)).toBeUndefined();
  expect(read('run/TODO.md')).toBe('two');
});
