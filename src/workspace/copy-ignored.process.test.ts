import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createTestProject, type TestProject } from '../testing/index.ts';
import { copyIgnored } from './copy-ignored.ts';

let project: TestProject;
let to: string;
beforeEach(() => {
  project = createTestProject({
    '.gitignore': '.env*\n/deps/\n/local/\n',
    'src/index.js': 'tracked\n',
    'packages/app/package.json': '{}',
  });
  to = join(project.root, '../task');
  project.git('worktree', 'add', '-q', '-b', 'task', to);
});
afterEach(() => project[Symbol.dispose]());

const copy = (...patterns: string[]) => copyIgnored(patterns, { from: project.root, to, env: project.env });
const copied = (path: string): string => readFileSync(join(to, path), 'utf8');

test('[L/worktree] ignored files are copied to the same place, by path, folder and glob', async () => {
  project.write({
    '.env.test': 'A=1\n',
    'packages/app/.env': 'B=2\n',
    'deps/a/index.js': 'a\n',
    'deps/b.js': 'b\n',
  });
  symlinkSync('a/index.js', join(project.root, 'deps/link.js'));
  expect(await copy('./.env.test', '**/.env', 'deps/')).toBeUndefined();
  expect(copied('.env.test') + copied('packages/app/.env') + copied('deps/a/index.js')).toBe('A=1\nB=2\na\n');
  expect(readlinkSync(join(to, 'deps/link.js'))).toBe('a/index.js');
  expect(existsSync(join(to, 'deps/b.js.stepfast-copy'))).toBe(false);
  project.write({ '.env.test': 'A=3\n' });
  expect(await copy('.env.test', 'deps')).toBeUndefined();
  expect(copied('.env.test')).toBe('A=3\n');
});

test('[L/worktree] of a project below the top of its repository, files keep their place in it', async () => {
  project.write({ 'packages/app/.env': 'B=2\n' });
  const from = join(project.root, 'packages/app');
  expect(await copyIgnored(['.env'], { from, to, env: project.env })).toBeUndefined();
  expect(copied('packages/app/.env')).toBe('B=2\n');
});

test('[L/worktree] what is missing, tracked or not ignored is a problem that names it', async () => {
  project.write({ 'notes.txt': 'untracked\n' });
  for (const path of ['.env.test', 'src/index.js', 'notes.txt', 'deps/*.js'])
    expect(await copy(path)).toContain(`'${path}'`);
  expect(existsSync(join(to, 'notes.txt'))).toBe(false);
});

test('[L/worktree] a file that the branch tracks is not replaced', async () => {
  writeFileSync(join(to, '.env.test'), 'tracked\n');
  project.git('-C', to, 'add', '-f', '.env.test');
  project.write({ '.env.test': 'A=1\n' });
  expect(await copy('.env.test')).toContain("'.env.test'");
  expect(copied('.env.test')).toBe('tracked\n');
});

test('[L/worktree] no link leads out of either worktree', async () => {
  const outside = join(project.root, '../outside');
  mkdirSync(outside);
  writeFileSync(join(outside, 'secret'), 'secret\n');
  mkdirSync(join(project.root, 'local'));
  for (const target of ['../../outside/secret', join(outside, 'secret')]) {
    symlinkSync(target, join(project.root, 'local/secret'));
    expect(await copy('local')).toContain("'local/secret'");
    rmSync(join(project.root, 'local/secret'));
  }
  // In the new worktree, the folder is a link.
  project.write({ 'local/file': 'mine\n' });
  symlinkSync(outside, join(to, 'local'));
  expect(await copy('local/file')).toContain("'local/file'");
  expect(existsSync(join(outside, 'file'))).toBe(false);
  rmSync(join(to, 'local'));
  // The file itself is a link: it is replaced, not what it leads to.
  mkdirSync(join(to, 'local'));
  symlinkSync(join(outside, 'secret'), join(to, 'local/file'));
  expect(await copy('local/file')).toBeUndefined();
  expect(lstatSync(join(to, 'local/file')).isFile()).toBe(true);
  expect(readFileSync(join(outside, 'secret'), 'utf8')).toBe('secret\n');
});

test('[L/worktree] runs and repositories of their own are never copied', async () => {
  project.write({ '.stepfast/.gitignore': 'runs/\n', '.stepfast/runs/x/journal': '{}', '.env': 'A=1\n' });
  expect(await copy('**')).toBeUndefined();
  expect(existsSync(join(to, '.env'))).toBe(true);
  expect(existsSync(join(to, '.stepfast/runs'))).toBe(false);
});
