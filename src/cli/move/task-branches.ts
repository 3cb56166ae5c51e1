import { printable } from '../../messages/index.ts';
import { branchesOf, listWorktrees, type Project } from '../../workspace/index.ts';
import type { Io } from '../io.ts';
import { paint } from '../paint.ts';

/** A worktree or branch of a run, which outlives it. */
export interface TaskTree {
  /** Exactly one of them is set, as git commands take it. */
  worktree?: string;
  branch?: string;
  /** It has changes that are not in the current branch. */
  unmerged: boolean;
}

/** The worktrees and branches of a run. They are never removed automatically, to keep unmerged work. */
export async function taskTrees(project: Project, runs: readonly string[]): Promise<TaskTree[]> {
  if (!project.git || runs.length === 0) return [];
  const worktrees = (await listWorktrees(project)).filter(({ run }) => runs.includes(run));
  const left: TaskTree[] = worktrees.map(({ path, holds }) => ({
    worktree: path,
    unmerged: holds === 'changes' || holds === 'both',
  }));
  for (const run of runs) left.push(...(await branchesOf(project, run)));
  return left;
}

export function printTaskTrees(left: readonly TaskTree[], io: Io): void {
  if (left.length === 0) return;
  io.stderr.write('Worktrees and branches of its tasks are kept. To remove them:\n');
  for (const { worktree, branch, unmerged } of left) {
    const command = worktree === undefined ? `git branch -d ${branch}` : `git worktree remove ${worktree}`;
    const why = unmerged ? `  ${worktree === undefined ? 'not merged here' : 'has changes'}` : '';
    io.stderr.write(`  ${printable(command)}${paint(io.stderr, 'yellow', why)}\n`);
  }
}
