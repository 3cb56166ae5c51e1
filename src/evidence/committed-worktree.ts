import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StepfastError } from '../errors.ts';
import { gitEnvironment } from './environment.ts';
import { type GitResult, git } from './git.ts';

/**
 * Calls `work` with a temporary worktree of a commit, without ignored files, installed packages or submodules; hooks do
 * not run. Always removes the worktree afterwards. Throws `bad_commit` and `worktree_failed`.
 */
export async function withWorktree<T>(
  repository: string,
  commit: string,
  work: (worktree: string, commit: string) => Promise<T>,
): Promise<T> {
  const run = (...args: string[]): Promise<GitResult> =>
    git(args, { cwd: repository, env: gitEnvironment(process.env) });
  const found = await run('rev-parse', '--verify', '--quiet', '--end-of-options', `${commit}^{commit}`);
  if (found.code !== 0) {
    const message = `'${commit}' is not a commit of ${repository}: use one that git log shows`;
    throw new StepfastError('bad_commit', message, { data: { repository, commit } });
  }
  const id = found.stdout.toString('latin1').trim();
  const directory = await mkdtemp(join(tmpdir(), 'stepfast-verify-'));
  const worktree = join(directory, 'worktree');
  try {
    const added = await run('worktree', 'add', '--quiet', '--detach', worktree, id);
    if (added.code !== 0) {
      const message = `git could not create a worktree of ${id.slice(0, 12)}: ${added.stderr.trim()}`;
      throw new StepfastError('worktree_failed', message, { data: { repository, commit: id } });
    }
    return await work(worktree, id);
  } finally {
    await run('worktree', 'remove', '--force', '--force', worktree);
    await rm(directory, { recursive: true, force: true, maxRetries: 3 });
    await run('worktree', 'prune');
  }
}
