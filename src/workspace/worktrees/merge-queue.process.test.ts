import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createWorktreeKit, type WorktreeKit } from '../../../test/kit/worktree-project.ts';
import { advanceBranch, createRunWorktree, isMerged, mergeTask, returnToTask, taskBranch } from '../index.ts';
import { ensureTaskWorktree } from './create.ts';
import { gitFolderOf, mergeWorktreePath } from './places.ts';

let kit: WorktreeKit;
let branch: string;
/** The worktree of the run. */
let works: string;
beforeEach(async () => {
  kit = createWorktreeKit({ '.gitignore': 'ignored/\n.local\n', 'a.txt': 'one\n', 'b.txt': 'one\n' });
  ({ branch, path: works } = await createRunWorktree(kit.project, { run: kit.run }));
});
afterEach(() => {
  vi.unstubAllEnvs();
  kit[Symbol.dispose]();
});

const headOf = (name = branch): string => kit.in(kit.root, 'rev-parse', name);
const task = (id: string): Promise<string> => ensureTaskWorktree(kit.project, kit.run, id, branch);
const item = (id: string) => ({ project: kit.project, run: kit.run, task: id, branch, base: headOf() });
const advance = (base: string, commit: string, of = branch) =>
  advanceBranch({ project: kit.project, branch: of, base, commit });
const read = (folder: string, file: string): string => readFileSync(join(folder, file), 'utf8');

/** A merge that must succeed. */
async function merged(id: string): Promise<{ base: string; commit: string; path: string }> {
  const result = await mergeTask(item(id));
  if (!('commit' in result)) throw new Error(JSON.stringify(result));
  return result;
}

test('two tasks that do not touch the same lines are merged one after the other, each as a merge commit', async () => {
  const [one, two] = [await task('1'), await task('2')];
  kit.work(one, { 'a.txt': 'two\n' }, 'first');
  kit.work(two, { 'b.txt': 'two\n', 'c.txt': 'new\n' }, 'second');
  const first = await merged('1');
  expect(first).toEqual({
    base: headOf('main'),
    commit: expect.any(String),
    path: mergeWorktreePath(kit.project, kit.run),
  });
  expect(headOf()).toBe(first.base);
  expect(kit.in(first.path, 'log', '-1', '--format=%P')).toBe(
    `${first.base} ${headOf(taskBranch(kit.run, '1'))}`,
  );
  expect(await isMerged(kit.project, taskBranch(kit.run, '1'), branch)).toBe(false);
  expect(await advance(first.base, first.commit)).toBe('advanced');
  expect(await isMerged(kit.project, taskBranch(kit.run, '1'), branch)).toBe(true);
  expect(await isMerged(kit.project, 'no-such-branch', branch)).toBe(false);
  expect(read(works, 'a.txt')).toBe('two\n');
  expect(kit.in(works, 'status', '--porcelain')).toBe('');
  const second = await merged('2');
  expect(second.base).toBe(first.commit);
  expect([read(second.path, 'a.txt'), read(second.path, 'b.txt')]).toEqual(['two\n', 'two\n']);
  expect(await advance(second.base, second.commit)).toBe('advanced');
  expect(await mergeTask(item('2'))).toEqual({ nothing: true });
  expect(await mergeTask(item('never claimed'))).toEqual({ nothing: true });
});

test('a conflict names the files, and leaves nothing in the worktree of the queue', async () => {
  const [one, two] = [await task('1'), await task('2')];
  kit.work(one, { 'a.txt': 'first\n' }, 'first');
  kit.work(two, { 'a.txt': 'second\n', 'c.txt': 'new\n' }, 'second');
  const { base, commit, path } = await merged('1');
  await advance(base, commit);
  expect(await mergeTask(item('2'))).toEqual({ conflict: ['a.txt'], base: commit });
  expect(kit.in(path, 'status', '--porcelain')).toBe('');
  expect(existsSync(join(gitFolderOf(path), 'MERGE_HEAD'))).toBe(false);
  expect(headOf()).toBe(commit);
});

test('what gates wrote into the worktree of the queue is gone with the next merge, but for ignored files', async () => {
  const [one, two] = [await task('1'), await task('2')];
  kit.work(one, { 'a.txt': 'first\n' }, 'first');
  kit.work(two, { 'b.txt': 'second\n', 'report.xml': 'of the task\n' }, 'second');
  const { path } = await merged('1');
  kit.work(path, { 'b.txt': 'by a gate\n', 'report.xml': 'by a gate\n', 'ignored/x': 'kept\n' });
  kit.in(path, 'add', 'b.txt');
  await merged('2');
  expect([read(path, 'b.txt'), read(path, 'report.xml'), read(path, 'ignored/x')]).toEqual([
    'second\n',
    'of the task\n',
    'kept\n',
  ]);
  expect(kit.in(path, 'status', '--porcelain')).toBe('');
  kit.work(path, { 'left.xml': 'by a gate\n' });
  await merged('1');
  expect(existsSync(join(path, 'left.xml'))).toBe(false);
});

test.each([
  [
    'is locked by a git that was killed',
    (path: string) => writeFileSync(join(gitFolderOf(path), 'index.lock'), ''),
  ],
  ['has lost its files', (path: string) => rmSync(path, { recursive: true })],
  ['is no worktree any more', (path: string) => rmSync(join(path, '.git'))],
])('a worktree of the queue that %s is created again', async (_, harm) => {
  kit.work(await task('1'), { 'a.txt': 'first\n' }, 'first');
  const { path } = await merged('1');
  harm(path);
  await merged('1');
  expect(read(path, 'a.txt')).toBe('first\n');
});

test('a merge that was interrupted is merged again, and one that was made before a crash as well', async () => {
  const [one, two] = [await task('1'), await task('2')];
  kit.work(one, { 'a.txt': 'first\n' }, 'first');
  kit.work(two, { 'a.txt': 'second\n' }, 'second');
  const first = await merged('1');
  // A crash before the branch advanced.
  const again = await merged('1');
  expect(again.base).toBe(first.base);
  // A crash within a merge.
  expect(() => kit.in(again.path, 'merge', '-q', taskBranch(kit.run, '2'))).toThrow();
  const third = await merged('1');
  expect(read(third.path, 'a.txt')).toBe('first\n');
  expect(await advance(third.base, third.commit)).toBe('advanced');
  // A crash after it.
  expect(await advance(third.base, third.commit)).toBe('advanced');
  expect(await mergeTask(item('1'))).toEqual({ nothing: true });
});

test('commits that a session made on another branch are not taken for nothing', async () => {
  const one = await task('1');
  kit.in(one, 'checkout', '-q', '-b', 'mine');
  const commit = kit.work(one, { 'a.txt': 'first\n' }, 'first');
  expect(await mergeTask(item('1'))).toEqual({ elsewhere: commit });
});

test('a commit of a person on the branch of the run is kept: it moved, and the merge is repeated', async () => {
  kit.work(await task('1'), { 'a.txt': 'first\n' }, 'first');
  const first = await merged('1');
  const own = kit.work(works, { 'person.txt': 'x\n' }, 'by a person');
  expect(await advance(first.base, first.commit)).toEqual({ moved: own });
  const second = await merged('1');
  expect(await advance(second.base, second.commit)).toBe('advanced');
  expect(read(works, 'person.txt')).toBe('x\n');
  // More commits on top do not undo it.
  kit.work(works, { 'person.txt': 'y\n' }, 'by a person');
  expect(await advance(second.base, second.commit)).toBe('advanced');
});

test('a branch from which the base is gone was rewound', async () => {
  kit.work(works, { 'b.txt': 'two\n' }, 'before');
  kit.work(await task('1'), { 'a.txt': 'first\n' }, 'first');
  const { base, commit } = await merged('1');
  kit.in(works, 'reset', '-q', '--hard', 'HEAD~1');
  expect(await advance(base, commit)).toEqual({ rewound: headOf() });
  const other = kit.work(works, { 'c.txt': 'x\n' }, 'other');
  expect(await advance(base, commit)).toEqual({ rewound: other });
  expect(headOf()).toBe(other);
});

test('uncommitted work is never overwritten, and stays where it is not in the way', async () => {
  kit.configure('merge.autoStash', 'true');
  kit.work(await task('1'), { 'a.txt': 'first\n', 'new.txt': 'x\n', '.local': 'x\n' }, 'first');
  kit.in(await task('1'), 'add', '-f', '.local');
  kit.in(await task('1'), 'commit', '-q', '--amend', '--no-edit');
  const { base, commit } = await merged('1');
  kit.work(works, { 'a.txt': 'mine\n', 'b.txt': 'mine\n' });
  expect(await advance(base, commit)).toEqual({ dirty: ['a.txt'] });
  kit.in(works, 'checkout', '-q', 'a.txt');
  kit.work(works, { 'new.txt': 'mine\n' });
  expect(await advance(base, commit)).toEqual({ dirty: ['new.txt'] });
  rmSync(join(works, 'new.txt'));
  // Git takes ignored files for worthless.
  kit.work(works, { '.local': 'mine\n' });
  expect(await advance(base, commit)).toEqual({ dirty: ['.local'] });
  expect(read(works, '.local')).toBe('mine\n');
  expect(headOf()).toBe(base);
  rmSync(join(works, '.local'));
  expect(await advance(base, commit)).toBe('advanced');
  expect([read(works, 'a.txt'), read(works, 'b.txt')]).toEqual(['first\n', 'mine\n']);
});

test('a branch that the person has checked out advances there with its files, and one that nobody has without', async () => {
  kit.in(kit.root, 'worktree', 'remove', works);
  kit.git('checkout', '-q', branch);
  kit.work(await task('1'), { 'a.txt': 'first\n' }, 'first');
  const first = await merged('1');
  expect(await advance(first.base, first.commit)).toBe('advanced');
  expect(read(kit.root, 'a.txt')).toBe('first\n');
  expect(kit.git('status', '--porcelain')).toBe('');
  kit.git('checkout', '-q', 'main');
  kit.work(await task('2'), { 'b.txt': 'second\n' }, 'second');
  const second = await merged('2');
  expect(await advance(second.base, second.commit)).toBe('advanced');
  expect(headOf()).toBe(second.commit);
  expect(kit.git('status', '--porcelain')).toBe('');
  // A folder that was deleted has nothing checked out.
  kit.git('worktree', 'add', '-q', works, branch);
  rmSync(works, { recursive: true });
  kit.work(await task('3'), { 'c.txt': 'third\n' }, 'third');
  const third = await merged('3');
  expect(await advance(third.base, third.commit)).toBe('advanced');
});

test('a task that goes back gets the branch of the run, after its uncommitted work is committed', async () => {
  const one = await task('1');
  const base = kit.work(works, { 'b.txt': 'two\n' }, 'in the run');
  kit.work(one, { 'a.txt': 'first\n' });
  const result = await returnToTask(item('1'));
  expect(result).toEqual({ merged: headOf(taskBranch(kit.run, '1')) });
  expect([read(one, 'a.txt'), read(one, 'b.txt')]).toEqual(['first\n', 'two\n']);
  expect(kit.in(one, 'status', '--porcelain')).toBe('');
  expect(await isMerged(kit.project, base, taskBranch(kit.run, '1'))).toBe(true);
  expect(await returnToTask(item('1'))).toEqual(result);
  kit.in(kit.root, 'worktree', 'remove', one);
  expect(await returnToTask(item('1'))).toEqual(result);
});

test('a conflict stays in the worktree of the task until it is resolved, also over a crash', async () => {
  const one = await task('1');
  kit.work(works, { 'a.txt': 'run\n' }, 'in the run');
  kit.work(one, { 'a.txt': 'task\n' });
  expect(await returnToTask(item('1'))).toEqual({ conflict: ['a.txt'] });
  expect(read(one, 'a.txt')).toMatch(/^<<<<<<< .*\ntask\n=======\nrun\n>>>>>>> /);
  expect(await returnToTask(item('1'))).toEqual({ conflict: ['a.txt'] });
  kit.work(one, { 'a.txt': 'both\n' }, 'resolved');
  expect(await returnToTask(item('1'))).toEqual({ merged: headOf(taskBranch(kit.run, '1')) });
  const { base, commit } = await merged('1');
  expect(await advance(base, commit)).toBe('advanced');
  expect(read(works, 'a.txt')).toBe('both\n');
});

test('a task whose work is held back is not merged with the run', async () => {
  const one = await task('1');
  kit.work(works, { 'b.txt': 'two\n' }, 'in the run');
  kit.work(one, { '.env': 'X=1\n' });
  const before = headOf(taskBranch(kit.run, '1'));
  expect(await returnToTask(item('1'))).toEqual({ held: 'secret', files: ['.env'] });
  expect(headOf(taskBranch(kit.run, '1'))).toBe(before);
  rmSync(join(one, '.env'));
  kit.in(one, 'checkout', '-q', '--detach');
  expect(await returnToTask(item('1'))).toEqual({ held: 'branch', files: [] });
});

test('submodules are at the commits of the merge, and one that was never pushed is reported', async () => {
  kit.configure('protocol.file.allow', 'always');
  const library = join(kit.root, '../library');
  mkdirSync(library);
  kit.in(library, 'init', '-q', '-b', 'main');
  kit.work(library, { 'lib.txt': 'one\n' }, 'library');
  kit.in(works, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', library, 'lib');
  kit.in(works, 'commit', '-q', '-m', 'submodule');
  const one = await task('1');
  kit.work(one, { 'a.txt': 'first\n' }, 'first');
  await merged('1');
  kit.work(join(one, 'lib'), { 'lib.txt': 'two\n' }, 'only here');
  kit.in(one, 'commit', '-q', '-am', 'lib');
  expect(await mergeTask(item('1'))).toEqual({ submodules: true, base: headOf() });
  kit.in(join(one, 'lib'), 'push', '-q', 'origin', 'HEAD:refs/heads/more');
  const { base, commit, path } = await merged('1');
  expect(read(join(path, 'lib'), 'lib.txt')).toBe('two\n');
  expect(await advance(base, commit)).toBe('advanced');
  expect(read(join(works, 'lib'), 'lib.txt')).toBe('two\n');
  expect(kit.in(works, 'status', '--porcelain')).toBe('');
});
