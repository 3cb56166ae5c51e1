import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { findProject, local, portable } from './project.ts';

let directory: string;
beforeEach(() => {
  directory = realpathSync(mkdtempSync(join(tmpdir(), 'stepfast-project-')));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const git = (cwd: string, ...args: string[]): void => {
  const identity = ['-c', 'user.name=t', '-c', 'user.email=t@example.com'];
  execFileSync('git', [...identity, ...args], { cwd, stdio: 'pipe' });
};

function repository(name = 'main'): string {
  const root = join(directory, name);
  mkdirSync(root);
  git(root, 'init', '-q');
  git(root, 'commit', '-q', '--allow-empty', '-m', 'first');
  return root;
}

test('the top of the repository is the project, from any directory below it', () => {
  const root = repository();
  mkdirSync(join(root, 'a/b'), { recursive: true });
  expect(findProject(join(root, 'a/b'))).toMatchObject({
    root,
    worktree: root,
    directory: join(root, '.stepfast'),
    git: true,
  });
});

test('a linked worktree shares the runs of the main one and has files of its own', () => {
  const root = repository();
  const linked = join(directory, 'linked');
  git(root, 'worktree', 'add', '-q', linked);
  expect(findProject(linked)).toMatchObject({
    root,
    worktree: linked,
    directory: join(root, '.stepfast'),
    git: true,
  });
});

test('a bare repository keeps runs in its git directory, also for its worktrees', () => {
  const root = repository();
  const bare = join(directory, 'bare.git');
  git(directory, 'clone', '-q', '--bare', root, bare);
  const linked = join(directory, 'linked');
  git(bare, 'worktree', 'add', '-q', linked, 'HEAD');
  expect(findProject(linked)).toMatchObject({ root: bare, worktree: linked });
  expect(findProject(bare)).toMatchObject({ root: bare, worktree: bare, git: true });
});

test('a submodule is a project of its own', () => {
  const inner = repository('inner');
  const root = repository('outer');
  git(root, '-c', 'protocol.file.allow=always', 'submodule', 'add', '-q', inner, 'sub');
  expect(findProject(join(root, 'sub'))).toMatchObject({ root: join(root, 'sub') });
});

test('a .stepfast below the top makes a project of that part, in every worktree', () => {
  const root = repository();
  mkdirSync(join(root, 'packages/api/.stepfast'), { recursive: true });
  const linked = join(directory, 'linked');
  git(root, 'worktree', 'add', '-q', linked);
  mkdirSync(join(linked, 'packages/api/.stepfast'), { recursive: true });
  mkdirSync(join(linked, 'packages/api/src'));
  expect(findProject(join(linked, 'packages/api/src'))).toMatchObject({
    root: join(root, 'packages/api'),
    worktree: join(linked, 'packages/api'),
  });
});

test('without git the nearest .stepfast is the project, else the directory itself', () => {
  mkdirSync(join(directory, 'project/.stepfast'), { recursive: true });
  mkdirSync(join(directory, 'project/src'));
  expect(findProject(join(directory, 'project/src'))).toMatchObject({
    root: join(directory, 'project'),
    git: false,
  });
  mkdirSync(join(directory, 'plain'));
  expect(findProject(join(directory, 'plain'))).toMatchObject({ root: join(directory, 'plain') });
});

test('[000/11] a worktree and a root that are given win', () => {
  const root = repository();
  const linked = join(directory, 'linked');
  git(root, 'worktree', 'add', '-q', linked);
  expect(findProject(directory, { worktree: linked, repoRoot: root })).toMatchObject({
    root,
    worktree: linked,
  });
});

test('paths are stored the same on every machine', () => {
  expect(portable('docs/a.md', '/repo')).toBe('{project_root}/docs/a.md');
  expect(portable('/repo/docs/a.md', '/repo')).toBe('{project_root}/docs/a.md');
  expect(portable('/repo', '/repo')).toBe('{project_root}');
  expect(portable('/repo-2', '/repo')).toBe('{project_root}/../repo-2');
  expect(local('{project_root}/docs/a.md', '/home/b')).toBe(join('/home/b/docs/a.md'));
  expect(local('{project_root}', '/home/b')).toBe('/home/b');
});

test('worktrees of a project are in the state directory of the user, whose links are resolved', () => {
  const root = repository();
  const linked = join(directory, 'linked');
  git(root, 'worktree', 'add', '-q', linked);
  mkdirSync(join(directory, 'disk'));
  symlinkSync(join(directory, 'disk'), join(directory, 'home'));
  const env = { XDG_STATE_HOME: join(directory, 'home/state') };
  const { worktrees } = findProject(root, { env });
  expect(worktrees).toMatch(/\/disk\/state\/stepfast\/worktrees\/main-[0-9a-f]{8}$/);
  expect(findProject(linked, { env }).worktrees).toBe(worktrees);
  mkdirSync(join(directory, 'other'));
  expect(findProject(join(directory, 'other'), { env }).worktrees).not.toBe(worktrees);
});
