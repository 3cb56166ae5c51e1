import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readGitHead } from './git-head.ts';
import { findProject } from './project.ts';
import { sessionEnvironment } from './session-environment.ts';

let directory: string;
beforeEach(() => {
  directory = realpathSync(mkdtempSync(join(tmpdir(), 'stepfast-environment-')));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const git = (cwd: string, ...args: string[]): string => {
  const identity = ['-c', 'user.name=t', '-c', 'user.email=t@example.com'];
  return execFileSync('git', [...identity, ...args], { cwd, stdio: 'pipe', encoding: 'utf8' }).trim();
};

function repository(): string {
  const root = join(directory, 'main');
  mkdirSync(root);
  git(root, 'init', '-q', '-b', 'topic/one');
  git(root, 'commit', '-q', '--allow-empty', '-m', 'first');
  return root;
}

test('[004/4] a session tells machine, platform, user, directory, commit and branch, in texts without a path of this machine', () => {
  const root = repository();
  mkdirSync(join(root, 'src'));
  const environment = sessionEnvironment(
    findProject(root),
    { STEPFAST_MACHINE: 'laptop' },
    { cwd: join(root, 'src'), version: '1.2.3' },
  );
  expect(environment).toEqual({
    hostname: 'laptop',
    platform: process.platform,
    user: expect.any(String),
    cwd: '{project_root}/src',
    git_commit: git(root, 'rev-parse', 'HEAD'),
    git_branch: 'topic/one',
    stepfast: '1.2.3',
  });
  expect(JSON.stringify(environment)).not.toContain(directory);
  expect(sessionEnvironment(findProject(root), {}).hostname).toMatch(/./);
});

test('[004/4] without git there is no commit and no branch', () => {
  writeFileSync(join(directory, 'HEAD'), 'ref: refs/heads/main\n');
  const project = findProject(directory);
  expect(Object.keys(sessionEnvironment(project, {}))).toEqual(['hostname', 'platform', 'user', 'cwd']);
});

test('the commit is read from a loose reference, a packed one and a detached head', () => {
  const root = repository();
  const commit = git(root, 'rev-parse', 'HEAD');
  expect(readGitHead(root)).toEqual({ commit, branch: 'topic/one' });
  git(root, 'tag', '-a', 'v1', '-m', 'v1');
  const other = git(root, 'commit-tree', 'HEAD^{tree}', '-m', 'other');
  git(root, 'update-ref', 'refs/a/refs/heads/topic/one', other);
  git(root, 'pack-refs', '--all');
  expect(readGitHead(join(root, '.'))).toEqual({ commit, branch: 'topic/one' });
  git(root, 'commit', '-q', '--allow-empty', '-m', 'second');
  const second = git(root, 'rev-parse', 'HEAD');
  expect(readGitHead(root).commit).toBe(second);
  git(root, 'checkout', '-q', '--detach', commit);
  expect(readGitHead(root)).toEqual({ commit });
});

test('a linked worktree has a head of its own, also beside a bare repository', () => {
  const root = repository();
  const linked = join(directory, 'linked');
  git(root, 'worktree', 'add', '-q', '-b', 'side', linked);
  git(linked, 'commit', '-q', '--allow-empty', '-m', 'side');
  git(root, 'pack-refs', '--all');
  expect(readGitHead(linked)).toEqual({ commit: git(linked, 'rev-parse', 'HEAD'), branch: 'side' });
  expect(sessionEnvironment(findProject(linked), {}).cwd).toBe('{project_root}/../linked');
  const bare = join(directory, 'bare.git');
  git(directory, 'clone', '-q', '--bare', root, bare);
  const commit = git(bare, 'rev-parse', 'HEAD');
  expect(readGitHead(bare)).toEqual({ commit, branch: 'topic/one' });
  const beside = join(directory, 'beside');
  git(bare, 'worktree', 'add', '-q', beside, 'HEAD');
  expect(readGitHead(beside).commit).toBe(commit);
});

test('a branch without a commit has its name; a head that is none says nothing', () => {
  const root = join(directory, 'fresh');
  mkdirSync(root);
  git(root, 'init', '-q', '-b', 'main');
  expect(readGitHead(root)).toEqual({ branch: 'main' });
  writeFileSync(join(directory, 'secret'), 'f'.repeat(40));
  writeFileSync(join(root, '.git/HEAD'), 'ref: refs/../../../secret\n');
  expect(readGitHead(root)).toEqual({});
  writeFileSync(join(root, '.git/HEAD'), 'ref: refs/heads/.invalid\n');
  expect(readGitHead(root)).toEqual({});
  writeFileSync(join(root, '.git/refs/heads/main'), 'ref: refs/heads/main\n');
  writeFileSync(join(root, '.git/HEAD'), 'ref: refs/heads/main\n');
  expect(readGitHead(root)).toEqual({ branch: 'main' });
  rmSync(join(root, '.git/HEAD'));
  expect(readGitHead(root)).toEqual({});
});
