import { leftoversHeldText, leftoversText } from '../messages/index.ts';
import { commitLeftovers, runBranch } from '../workspace/index.ts';
import type { QueueContext } from './worker-context.ts';

/** Commits what a session left uncommitted. Returns why a person must look at it first. */
export async function commitWork(
  { run, commits, report }: QueueContext,
  { worktree, worker, task }: { worktree: string; worker: string; task?: string },
): Promise<string | undefined> {
  // With --here the person's own checkout is theirs; the worktree of a task never is.
  if (!commits && task === undefined) return undefined;
  const branch = task === undefined ? runBranch(run) : undefined;
  const left = await commitLeftovers(worktree, { message: leftoversText(run, task), branch });
  if ('held' in left) return leftoversHeldText(left.held, left.files);
  if (left.commit !== undefined) report({ type: 'committed', worker, commit: left.commit });
  return undefined;
}
