import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StepfastError } from '../errors.ts';
import { gitEnvironment } from './environment.ts';
import { type GitResult, git } from './git.ts';

/**
 * Gives `work` a temporary worktree with what was committed, and nothing else: no ignored files, no installed
 * packages, no submodules; hooks do not run. Removed when `work` ends, also by throwing.
 * Throws `bad_commit` and `worktree_failed`.
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
    const message = `'${commit}' is no commit of ${repository}: name one that git log shows`;
    throw new StepfastError('bad_commit', message, { data: { repository, commit } });
  }
  const id = found.stdout.toString('latin1').trim();
  const directory = await mkdtemp(join(tmpdir(), 'stepfast-verify-'));
  const worktree = join(directory, 'worktree');
  try {
    const added = await run('worktree', 'add', '--quiet', '--detach', worktree, id);
    if (added.code !== 0) {
      const message = `git made no worktree of ${id.slice(0, 12)}: ${added.stderr.trim()}`;
      throw new StepfastError('worktree_failed', message, { data: { repository, commit: id } });
    }
    return await work(worktree, id);
  } finally {
    await run('worktree', 'remove', '--force', '--force', worktree);
    await rm(directory, { recursive: true, force: true, maxRetries: 3 });
    await run('worktree', 'prune');
  }
}
