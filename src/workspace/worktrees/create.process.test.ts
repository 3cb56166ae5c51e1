import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createWorktreeKit, type WorktreeKit } from '../../../test/kit/worktree-project.ts';
import { loadWorkflowTemplateFromString } from '../../definition/index.ts';
import { replay, settle } from '../../machine/index.ts';
import { createRunWorktree, createTaskWorktree, runBranch, taskWorktree, worktreesFolder } from '../index.ts';
import { findProject } from '../project.ts';
import { gitFolderOf } from './places.ts';
import { unmergedBranches } from './unmerged.ts';

let kit: WorktreeKit;
beforeEach(() => {
  kit = createWorktreeKit({ 'a.txt': 'one\n' });
});
afterEach(() => {
  vi.unstubAllEnvs();
  kit[Symbol.dispose]();
});

const definition = loadWorkflowTemplateFromString(`name: w
description: d
loops: { build: [{ id: write, instructions: Write. }] }
steps: [{ id: build, type: loop, parallel: 2 }]
`);

function view(branch?: string) {
  const { events } = settle(definition, null, { type: 'start', now: 1, run: kit.run });
  const state = replay(definition, null, events);
  if (!state) throw new Error('no run');
  return { definition, state: branch === undefined ? state : { ...state, branch } };
}

const headIn = (path: string): string => kit.in(path, 'symbolic-ref', '--short', 'HEAD');

test('worktrees are in the state directory of the user, and belong to the project of the repository', async () => {
  const path = (await createTaskWorktree(kit.project, view(), 'a')) ?? '';
  expect(path).toBe(join(worktreesFolder(kit.project), kit.run, 'task/a'));
  expect(path.startsWith(join(kit.home, '.local/state/stepfast/worktrees/project-'))).toBe(true);
  expect(headIn(path)).toBe(`stepfast/${kit.run}/task/a`);
  expect(taskWorktree(kit.project, kit.run, 'a')).toBe(path);
  const found = findProject(path, { env: kit.env, home: kit.home });
  expect(found).toEqual({ ...kit.project, worktree: path });
  expect(await createTaskWorktree(found, view(), 'a')).toBe(path);
});

test('a task starts at the branch of the run, and keeps its commits when its worktree is created again', async () => {
  const run = await createRunWorktree(kit.project, { run: kit.run });
  expect(run).toEqual({
    path: join(worktreesFolder(kit.project), kit.run, 'run'),
    branch: runBranch(kit.run),
  });
  const ahead = kit.work(run.path, { 'b.txt': 'two\n' }, 'in the run');
  expect(run.branch).toBe(`stepfast/${kit.run}/run`);
  expect(await createRunWorktree(kit.project, { run: kit.run })).toEqual(run);
  const path = (await createTaskWorktree(kit.project, view(run.branch), 'a')) ?? '';
  expect(kit.in(path, 'rev-parse', 'HEAD')).toBe(ahead);
  const own = kit.work(path, { 'c.txt': 'three\n' }, 'in the task');
  kit.git('worktree', 'remove', '--force', path);
  await createTaskWorktree(kit.project, view(run.branch), 'a');
  expect(kit.in(path, 'rev-parse', 'HEAD')).toBe(own);
});

test('a folder that was deleted, or whose creation was interrupted, is created again', async () => {
  const path = (await createTaskWorktree(kit.project, view(), 'a')) ?? '';
  rmSync(path, { recursive: true });
  await createTaskWorktree(kit.project, view(), 'a');
  expect(readFileSync(join(path, 'a.txt'), 'utf8')).toBe('one\n');
  const lock = join(gitFolderOf(path), 'locked');
  rmSync(join(path, 'a.txt'));
  writeFileSync(lock, 'initializing');
  utimesSync(lock, 1, 1);
  await createTaskWorktree(kit.project, view(), 'a');
  expect(existsSync(join(path, 'a.txt'))).toBe(true);
  expect(existsSync(lock)).toBe(false);
});

test('what git still does for a process that was killed is waited for', async () => {
  kit.work(kit.root, { '.gitattributes': '*.txt filter=slow\n', 'b.txt': 'two\n' }, 'slow files');
  const begun = join(kit.home, 'begun');
  kit.configure('filter.slow.smudge', `touch '${begun}'; sleep 1; cat`);
  const script = `import('${import.meta.resolve('./create.ts')}').then(({ ensureTaskWorktree }) =>
    ensureTaskWorktree(${JSON.stringify(kit.project)}, '${kit.run}', 'a', 'HEAD'))`;
  const killed = spawn(process.execPath, ['-e', script], { stdio: 'inherit' });
  await expect.poll(() => existsSync(begun), { timeout: 60_000 }).toBe(true);
  killed.kill('SIGKILL');
  await once(killed, 'close');
  const path = (await createTaskWorktree(kit.project, view(), 'a')) ?? '';
  expect(kit.in(path, 'status', '--porcelain')).toBe('');
});

test('a worktree that someone else has just begun to create is waited for', async () => {
  await createTaskWorktree(kit.project, view(), 'a');
  const half = join(kit.root, '.git/worktrees/half');
  cpSync(join(kit.root, '.git/worktrees/a'), half, { recursive: true });
  writeFileSync(join(half, 'commondir'), '');
  const created = createTaskWorktree(kit.project, view(), 'b');
  const listed = unmergedBranches(kit.project, kit.run);
  await new Promise((resolve) => setTimeout(resolve, 500));
  rmSync(half, { recursive: true });
  expect(kit.in((await created) ?? '', 'status', '--porcelain')).toBe('');
  expect(await listed).toEqual([]);
});

test('several callers at once get the same worktree', async () => {
  const paths = await Promise.all([1, 2, 3].map(() => createTaskWorktree(kit.project, view(), 'a')));
  expect(new Set(paths).size).toBe(1);
  expect(kit.in(paths[0] ?? '', 'status', '--porcelain')).toBe('');
});

test('worktrees and branches under their first names are found and used', async () => {
  const old = join(kit.root, '.stepfast/worktrees', kit.run, 'a');
  kit.git('worktree', 'add', '-q', '-b', `stepfast/${kit.run}/a`, old);
  expect(taskWorktree(kit.project, kit.run, 'a')).toBe(old);
  expect(await createTaskWorktree(kit.project, view(), 'a')).toBe(old);
  expect(await unmergedBranches(kit.project, kit.run)).toEqual([]);
  const own = kit.work(old, { 'b.txt': 'two\n' }, 'work');
  expect(await unmergedBranches(kit.project, kit.run)).toEqual([`stepfast/${kit.run}/a`]);
  kit.git('worktree', 'remove', old);
  const path = (await createTaskWorktree(kit.project, view(), 'a')) ?? '';
  expect(path).toBe(join(worktreesFolder(kit.project), kit.run, 'task/a'));
  expect(kit.in(path, 'rev-parse', 'HEAD')).toBe(own);
  expect(headIn(path)).toBe(`stepfast/${kit.run}/a`);
});

test('a task with the id run has a branch of its own', async () => {
  const { branch } = await createRunWorktree(kit.project, { run: kit.run });
  const path = (await createTaskWorktree(kit.project, view(), 'run')) ?? '';
  expect(headIn(path)).toBe(`stepfast/${kit.run}/task/run`);
  expect(headIn(path)).not.toBe(branch);
});

test('submodules are initialised where the settings of the person allow them', async () => {
  const library = join(kit.root, '../library');
  mkdirSync(library);
  kit.in(library, 'init', '-q', '-b', 'main');
  kit.work(library, { 'lib.txt': 'lib\n' }, 'library');
  kit.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', library, 'lib');
  kit.git('commit', '-q', '-m', 'submodule');
  await expect(createTaskWorktree(kit.project, view(), 'a')).rejects.toMatchObject({ code: 'no_worktree' });
  kit.configure('protocol.file.allow', 'always');
  const path = (await createTaskWorktree(kit.project, view(), 'a')) ?? '';
  expect(readFileSync(join(path, 'lib/lib.txt'), 'utf8')).toBe('lib\n');
});
