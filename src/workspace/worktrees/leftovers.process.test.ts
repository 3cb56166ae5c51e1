import { chmodSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createWorktreeKit, type WorktreeKit } from '../../../test/kit/worktree-project.ts';
import { changedAfterGates, commitLeftovers, uncommittedIn } from '../index.ts';

let kit: WorktreeKit;
beforeEach(() => {
  kit = createWorktreeKit({ '.gitignore': 'ignored/\n', 'a.txt': 'one\n', 'b.txt': 'one\n' });
});
afterEach(() => {
  vi.unstubAllEnvs();
  kit[Symbol.dispose]();
});

const head = (): string => kit.in(kit.root, 'rev-parse', 'HEAD');
const commit = (more: object = {}) => commitLeftovers(kit.root, { message: 'left', ...more });
/** Not as one text, which would be a secret of this file. */
const token = ['ghp', 'aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hJ6'].join('_');

/** Nothing is committed, and the index is as it was. */
async function expectHeld(held: string, files: string[]): Promise<void> {
  const before = [head(), kit.in(kit.root, 'status', '--porcelain')];
  expect(await commit()).toEqual({ held, files });
  expect([head(), kit.in(kit.root, 'status', '--porcelain')]).toEqual(before);
}

test('changes, new and deleted files are committed, and ignored ones are not', async () => {
  expect(await commit()).toEqual({ commit: undefined });
  kit.work(kit.root, { 'a.txt': 'two\n', 'new/ä b.txt': 'x\n', 'ignored/c': 'x\n' });
  rmSync(join(kit.root, 'b.txt'));
  expect((await uncommittedIn(kit.root)).sort()).toEqual(['a.txt', 'b.txt', 'new/ä b.txt']);
  expect(await commit()).toEqual({ commit: head() });
  expect(kit.in(kit.root, 'log', '-1', '--format=%an <%ae> %cn %s')).toBe(
    'Person <person@example.com> Person left',
  );
  expect(await uncommittedIn(kit.root)).toEqual([]);
  expect(kit.in(kit.root, 'ls-files', 'ignored')).toBe('');
});

test('without a configured identity it is that of Stepfast, and neither hooks nor signatures are in the way', async () => {
  vi.stubEnv('GIT_CONFIG_GLOBAL', '/dev/null');
  kit.work(kit.root, { 'a.txt': 'two\n', '.git/hooks/pre-commit': '#!/bin/sh\nexit 1\n' });
  kit.in(kit.root, 'config', 'commit.gpgsign', 'true');
  kit.in(kit.root, 'config', 'gpg.program', '/nonexistent');
  chmodSync(join(kit.root, '.git/hooks/pre-commit'), 0o755);
  expect(await commit()).toEqual({ commit: head() });
  expect(kit.in(kit.root, 'log', '-1', '--format=%an <%ae> %cn <%ce>')).toBe(
    'Stepfast <stepfast@localhost> Stepfast <stepfast@localhost>',
  );
});

test('a new secret is held back, in a change, a new file, or by the name of a file', async () => {
  kit.work(kit.root, { 'known.txt': `token: ${token}\n` }, 'a secret that is known');
  kit.work(kit.root, { 'known.txt': `# more\ntoken: ${token}\n` });
  expect(await commit()).toEqual({ commit: head() });
  kit.work(kit.root, { 'a.txt': `one\n++ token: ${token}\n` });
  await expectHeld('secret', ['a.txt']);
  kit.work(kit.root, { 'a.txt': 'one\n', 'new.txt': `token: ${token}\n` });
  await expectHeld('secret', ['new.txt']);
  rmSync(join(kit.root, 'new.txt'));
  kit.work(kit.root, { '.env': 'LEVEL=1\n' });
  await expectHeld('secret', ['.env']);
});

test('a file over 5 MB and more than 200 new files are held back', async () => {
  const most = 5 * 1024 * 1024;
  kit.work(kit.root, { 'fits.bin': Buffer.alloc(most) });
  expect(await commit()).toEqual({ commit: head() });
  kit.work(kit.root, { 'large.bin': Buffer.alloc(most + 1) });
  await expectHeld('large', ['large.bin']);
  expect(await commit({ limits: { bytes: most + 1 } })).toEqual({ commit: head() });
  const files = Object.fromEntries([...Array(200).keys()].map((n) => [`many/${n}.txt`, 'x\n']));
  kit.work(kit.root, files);
  expect(await commit()).toEqual({ commit: head() });
  kit.work(kit.root, Object.fromEntries([...Array(201).keys()].map((n) => [`more/${n}.txt`, 'x\n'])));
  expect(await commit()).toMatchObject({ held: 'many', files: { length: 201 } });
});

/** A merge of a branch that changes the same line and adds a file, and stops. */
function mergeInProgress(): void {
  kit.git('checkout', '-q', '-b', 'other');
  // What the other side has committed is not looked at again.
  const large = Buffer.alloc(5 * 1024 * 1024 + 1);
  kit.work(
    kit.root,
    { 'a.txt': 'theirs\n', 'theirs.txt': `token: ${token}\n`, 'large.bin': large },
    'theirs',
  );
  kit.git('checkout', '-q', 'main');
  kit.work(kit.root, { 'a.txt': 'ours\n' }, 'ours');
  expect(() => kit.git('merge', 'other')).toThrow();
}

test('a merge with markers left is held back, one that is resolved is committed as a merge', async () => {
  mergeInProgress();
  await expectHeld('conflict', ['a.txt']);
  const marked = readFileSync(join(kit.root, 'a.txt'), 'utf8');
  kit.git('add', 'a.txt');
  expect(await commit()).toEqual({ held: 'conflict', files: ['a.txt'] });
  kit.work(kit.root, { 'a.txt': marked.replace(/^[<=>]{7}.*\n/gm, '') });
  expect(await commit()).toEqual({ commit: head() });
  expect(kit.in(kit.root, 'rev-list', '--parents', '-1', 'HEAD').split(' ')).toHaveLength(3);
  expect(readFileSync(join(kit.root, 'a.txt'), 'utf8')).toBe('ours\ntheirs\n');
});

test('a secret that a session adds while it resolves a merge is held back', async () => {
  mergeInProgress();
  kit.work(kit.root, { 'a.txt': `both\npassword: ${token}1\n` });
  expect(await commit()).toEqual({ held: 'secret', files: ['a.txt'] });
});

test('of a binary file and a deletion nothing shows that a conflict was resolved', async () => {
  kit.work(kit.root, { 'x.bin': Buffer.from([0, 1]), 'gone.txt': 'x\n' }, 'base');
  kit.git('checkout', '-q', '-b', 'other');
  kit.git('rm', '-q', 'gone.txt');
  kit.work(kit.root, { 'x.bin': Buffer.from([0, 2]) }, 'theirs');
  kit.git('checkout', '-q', 'main');
  kit.work(kit.root, { 'x.bin': Buffer.from([0, 3]), 'gone.txt': 'y\n' }, 'ours');
  expect(() => kit.git('merge', 'other')).toThrow();
  expect(await commit()).toEqual({ held: 'conflict', files: ['gone.txt', 'x.bin'] });
  kit.git('rm', '-q', 'gone.txt');
  kit.git('add', 'x.bin');
  expect(await commit()).toEqual({ commit: head() });
});

test('a merge that was resolved to one side is finished', async () => {
  mergeInProgress();
  kit.git('checkout', '-q', 'HEAD', '--', '.');
  kit.git('rm', '-q', '-f', 'theirs.txt', 'large.bin');
  expect(await uncommittedIn(kit.root)).toEqual([]);
  expect(await commit()).toEqual({ commit: head() });
  expect(kit.in(kit.root, 'rev-list', '--parents', '-1', 'HEAD').split(' ')).toHaveLength(3);
});

test('work on another branch or in a rebase is held back', async () => {
  kit.git('checkout', '-q', '-b', 'mine');
  expect(await commit({ branch: 'main' })).toEqual({ commit: undefined });
  kit.work(kit.root, { 'a.txt': 'two\n' });
  expect(await commit({ branch: 'main' })).toEqual({ held: 'branch', files: [] });
  expect(await commit({ branch: 'mine' })).toEqual({ commit: head() });
  expect(await commit({ branch: 'main' })).toEqual({ held: 'branch', files: [] });
  kit.git('checkout', '-q', 'main');
  kit.work(kit.root, { 'a.txt': 'three\n' }, 'main');
  kit.git('checkout', '-q', 'mine');
  expect(() => kit.git('rebase', 'main')).toThrow();
  expect(await commit()).toEqual({ held: 'rebase', files: [] });
});

test('work in a submodule or in a repository within the worktree is held back', async () => {
  const library = join(kit.root, '../library');
  mkdirSync(library);
  kit.in(library, 'init', '-q', '-b', 'main');
  kit.work(library, { 'lib.txt': 'lib\n' }, 'library');
  kit.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', library, 'lib');
  expect(await commit()).toEqual({ commit: head() });
  const inner = join(kit.root, 'lib');
  kit.work(inner, { 'lib.txt': 'changed\n' });
  await expectHeld('submodule', ['lib']);
  kit.work(inner, {}, 'only here');
  await expectHeld('submodule', ['lib']);
  // Also if the agent has committed that.
  kit.git('commit', '-q', '-am', 'lib');
  await expectHeld('submodule', ['lib']);
  kit.in(inner, 'push', '-q', 'origin', 'HEAD:refs/heads/more');
  expect(await commit()).toEqual({ commit: undefined });
  kit.in(kit.root, 'init', '-q', 'nested');
  await expectHeld('submodule', ['nested/']);
});

test('changed after gates is what is not as in the commit, but for what they may write', async () => {
  const at = head();
  symlinkSync('a.txt', join(kit.root, 'link'));
  kit.work(kit.root, { 'a.txt': 'two\n', 'coverage/x.json': '{}\n', 'ignored/x': '' });
  kit.git('rm', '-q', '--cached', 'b.txt');
  expect((await changedAfterGates(kit.root, at, ['coverage'])).sort()).toEqual(['a.txt', 'b.txt', 'link']);
  kit.git('commit', '-q', '-am', 'a gate commits');
  expect((await changedAfterGates(kit.root, at, ['**/*.json', 'link', 'b.txt'])).sort()).toEqual(['a.txt']);
  kit.git('add', 'b.txt');
  kit.work(kit.root, { 'a.txt': 'one\n' });
  expect(await changedAfterGates(kit.root, at, ['coverage', 'link'])).toEqual([]);
});
