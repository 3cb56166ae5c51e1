import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { withWorktree } from './committed-worktree.ts';
import { gitEnvironment } from './environment.ts';

const root = realpathSync(mkdtempSync(join(tmpdir(), 'stepfast-repository-')));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const git = (...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.org', ...args], {
    cwd: root,
    env: gitEnvironment(process.env),
    stdio: ['ignore', 'pipe', 'ignore'],
  })
    .toString()
    .trim();

git('init', '-q');
writeFileSync(join(root, 'a'), 'committed');
git('add', '-A');
git('commit', '-qm', 'first');
writeFileSync(join(root, '.git/hooks/post-checkout'), `#!/bin/sh\ntouch '${join(root, 'hook-ran')}'\n`);
chmodSync(join(root, '.git/hooks/post-checkout'), 0o755);
writeFileSync(join(root, 'a'), 'edited');
writeFileSync(join(root, 'untracked'), '');

test('a temporary worktree has the committed files, runs no hook, and is removed afterwards', async () => {
  const { path, answer } = await withWorktree(root, 'HEAD', async (worktree, commit) => {
    expect(commit).toBe(git('rev-parse', 'HEAD'));
    expect(readFileSync(join(worktree, 'a'), 'utf8')).toBe('committed');
    expect(readdirSync(worktree).sort()).toEqual(['.git', 'a']);
    writeFileSync(join(worktree, 'left'), '');
    return { path: worktree, answer: 42 };
  });
  expect(answer).toBe(42);
  expect(existsSync(path)).toBe(false);
  expect(existsSync(join(root, 'hook-ran'))).toBe(false);
  expect(git('worktree', 'list').split('\n')).toHaveLength(1);
  expect(readFileSync(join(root, 'a'), 'utf8')).toBe('edited');
});

test('it is also removed if the work throws or removes it itself', async () => {
  let path = '';
  const broken = withWorktree(root, 'HEAD', async (worktree) => {
    path = worktree;
    rmSync(worktree, { recursive: true });
    throw new Error('broken');
  });
  await expect(broken).rejects.toThrow('broken');
  expect(existsSync(join(path, '..'))).toBe(false);
  expect(git('worktree', 'list').split('\n')).toHaveLength(1);
});

test('anything but a commit is refused', async () => {
  for (const commit of ['nowhere', '--help', 'HEAD^{tree}']) {
    await expect(withWorktree(root, commit, async () => 1)).rejects.toMatchObject({ code: 'bad_commit' });
  }
});
