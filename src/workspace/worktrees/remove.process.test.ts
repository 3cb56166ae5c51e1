import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createWorktreeKit, type WorktreeKit } from '../../../test/kit/worktree-project.ts';
import {
  advanceBranch,
  createRunWorktree,
  listWorktrees,
  mergeTask,
  removeEmptyWorktrees,
  removeTaskWorktree,
  taskBranch,
  worktreesFolder,
} from '../index.ts';
import { ensureTaskWorktree } from './create.ts';

let kit: WorktreeKit;
let branch: string;
beforeEach(async () => {
  kit = createWorktreeKit({ '.gitignore': 'ignored/\n', 'a.txt': 'one\n' });
  ({ branch } = await createRunWorktree(kit.project, { run: kit.run }));
});
afterEach(() => {
  vi.unstubAllEnvs();
  kit[Symbol.dispose]();
});

const task = (id: string): Promise<string> => ensureTaskWorktree(kit.project, kit.run, id, branch);
const remove = (id: string) => removeTaskWorktree(kit.project, kit.run, id, branch);
const branches = (): string[] =>
  kit.git('branch', '--format=%(refname:short)').trim().split('\n').filter(Boolean);

async function merge(id: string): Promise<void> {
  const base = kit.git('rev-parse', branch).trim();
  const merged = await mergeTask({ project: kit.project, run: kit.run, task: id, branch, base });
  if (!('commit' in merged)) throw new Error(JSON.stringify(merged));
  await advanceBranch({ project: kit.project, branch, ...merged });
}

test('the worktree and branch of a task are removed when all of it is merged and nothing else is there', async () => {
  const one = await task('1');
  const commit = kit.work(one, { 'a.txt': 'two\n', 'ignored/x': 'x\n' }, 'first');
  expect(await remove('1')).toEqual({ kept: 'commits', commits: [commit] });
  await merge('1');
  kit.work(one, { 'left.txt': 'x\n' });
  expect(await remove('1')).toEqual({ kept: 'changes', files: ['left.txt'] });
  expect(existsSync(join(one, 'left.txt'))).toBe(true);
  kit.in(one, 'add', '-A');
  kit.in(one, 'rm', '-q', '-f', 'left.txt');
  expect(await remove('1')).toBe('removed');
  expect(existsSync(one)).toBe(false);
  expect(branches()).not.toContain(taskBranch(kit.run, '1'));
  expect(await remove('1')).toBe('removed');
});

test('commits beside the branch, a file that git does not look at, a lock and a merge under way keep it', async () => {
  const one = await task('1');
  kit.in(one, 'checkout', '-q', '--detach');
  const commit = kit.work(one, { 'a.txt': 'two\n' }, 'beside');
  expect(await remove('1')).toEqual({ kept: 'commits', commits: [commit] });
  kit.in(one, 'checkout', '-q', taskBranch(kit.run, '1'));
  kit.in(one, 'update-index', '--assume-unchanged', 'a.txt');
  kit.work(one, { 'a.txt': 'hidden\n' });
  expect(await remove('1')).toEqual({ kept: 'changes', files: ['a.txt'] });
  kit.in(one, 'update-index', '--no-assume-unchanged', 'a.txt');
  kit.in(one, 'checkout', '-q', 'a.txt');
  kit.in(one, 'merge', '-q', '--no-commit', '-s', 'ours', commit);
  expect(await remove('1')).toEqual({ kept: 'changes', files: ['MERGE_HEAD'] });
  kit.in(one, 'merge', '--abort');
  kit.in(one, 'worktree', 'lock', one);
  expect(await remove('1')).toEqual({ kept: 'locked' });
  kit.in(one, 'worktree', 'unlock', one);
  expect(await remove('1')).toBe('removed');
});

test('a branch that the person has checked out stays', async () => {
  const one = await task('1');
  kit.in(one, 'checkout', '-q', '--detach');
  kit.git('checkout', '-q', taskBranch(kit.run, '1'));
  expect(await remove('1')).toBe('removed');
  expect(branches()).toContain(taskBranch(kit.run, '1'));
});

test('work that is only in a submodule of the worktree keeps it', async () => {
  kit.configure('protocol.file.allow', 'always');
  const library = join(kit.root, '../library');
  mkdirSync(library);
  kit.in(library, 'init', '-q', '-b', 'main');
  kit.work(library, { 'lib.txt': 'one\n' }, 'library');
  const one = await task('1');
  kit.in(one, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', library, 'lib');
  kit.in(one, 'commit', '-q', '-m', 'submodule');
  await merge('1');
  const inner = join(one, 'lib');
  kit.in(inner, 'checkout', '-q', '-b', 'mine');
  kit.work(inner, { 'lib.txt': 'two\n' }, 'only here');
  kit.in(inner, 'checkout', '-q', 'main');
  expect(kit.in(one, 'status', '--porcelain')).toBe('');
  expect(await remove('1')).toEqual({ kept: 'changes', files: ['lib'] });
  kit.in(inner, 'push', '-q', 'origin', 'mine');
  expect(await remove('1')).toBe('removed');
});

test('all worktrees of Stepfast are listed with what they hold, and only empty ones are removed', async () => {
  const merged = await task('merged');
  kit.work(merged, { 'a.txt': 'two\n' }, 'merged');
  await merge('merged');
  kit.work(await task('ahead'), { 'b.txt': 'x\n' }, 'ahead');
  kit.work(await task('dirty'), { 'b.txt': 'x\n' });
  const both = await task('both');
  kit.work(both, { 'b.txt': 'x\n' }, 'ahead');
  kit.work(both, { 'c.txt': 'x\n' });
  const old = join(kit.root, '.stepfast/worktrees/gone-20250101-aaaaaaaa/t');
  kit.git('worktree', 'add', '-q', '-b', 'stepfast/gone-20250101-aaaaaaaa/t', old);
  kit.git('worktree', 'add', '-q', '-b', 'own', '../of-the-person');
  const found = await listWorktrees(kit.project);
  const short = found.map(({ run, kind, task: id, holds, merged: into }) => [run, kind, id, holds, into]);
  const gone = 'gone-20250101-aaaaaaaa';
  expect(short.toSorted()).toEqual(
    [
      [kit.run, 'run', undefined, 'nothing', branch],
      [kit.run, 'merge', undefined, 'nothing', branch],
      [kit.run, 'task', 'merged', 'nothing', branch],
      [kit.run, 'task', 'ahead', 'commits', undefined],
      [kit.run, 'task', 'dirty', 'changes', branch],
      [kit.run, 'task', 'both', 'both', undefined],
      [gone, 'task', 't', 'nothing', 'main'],
    ].toSorted(),
  );
  expect(found.find(({ task: id }) => id === 'merged')).toEqual({
    run: kit.run,
    task: 'merged',
    kind: 'task',
    path: merged,
    branch: taskBranch(kit.run, 'merged'),
    holds: 'nothing',
    merged: branch,
  });
  const removed = await removeEmptyWorktrees(kit.project, (run) => run === kit.run);
  expect(removed.map(({ path }) => path)).toEqual([old]);
  expect(existsSync(join(kit.root, '.stepfast/worktrees', gone))).toBe(false);
  const rest = await removeEmptyWorktrees(kit.project, () => false);
  expect(rest.map(({ kind, task: id }) => id ?? kind).toSorted()).toEqual(['merge', 'merged', 'run']);
  expect(kit.git('branch', '--list', branch)).not.toBe('');
  expect((await listWorktrees(kit.project)).map(({ holds }) => holds).toSorted()).toEqual([
    'both',
    'changes',
    'commits',
  ]);
  expect(branches().toSorted()).toEqual(
    ['main', 'own', branch, ...['ahead', 'both', 'dirty'].map((id) => taskBranch(kit.run, id))].toSorted(),
  );
  expect(existsSync(join(worktreesFolder(kit.project), kit.run, 'task/ahead/b.txt'))).toBe(true);
});
