import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Project } from '../project.ts';
import { uncommittedIn } from './changes.ts';
import { tryGit } from './git.ts';
import { findTaskBranch, oldWorktreesFolder, runBranch, taskWorktreePath } from './places.ts';

/** Branches of tasks whose work, committed or not, is not in this tree. Without worktrees it runs nothing. */
export async function unmergedBranches(project: Project, run: string): Promise<string[]> {
  const folders = [dirname(taskWorktreePath(project, run, 'x')), join(oldWorktreesFolder(project), run)];
  const known = folders.filter((folder) => existsSync(folder));
  if (known.length === 0) return [];
  const ahead = (await branchesOf(project, run)).filter((each) => each.unmerged);
  const unmerged = new Set(ahead.map(({ branch }) => branch).filter((branch) => branch !== runBranch(run)));
  for (const folder of known)
    for (const task of tasksIn(folder)) {
      const worktree = join(folder, task);
      const branch = await findTaskBranch(project, run, task);
      if (branch === undefined || unmerged.has(branch) || !existsSync(join(worktree, '.git'))) continue;
      const changes = await uncommittedIn(worktree).catch((error: unknown) => {
        // The queue has merged it meanwhile, and is removing it.
        if (!existsSync(join(worktree, '.git'))) return [];
        throw error;
      });
      if (changes.length > 0) unmerged.add(branch);
    }
  return [...unmerged];
}

/** The folder goes with its last worktree, which may be at this moment. */
function tasksIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}

/** All branches of a run. */
export async function branchesOf(
  project: Project,
  run: string,
): Promise<{ branch: string; unmerged: boolean }[]> {
  const list = async (...filter: string[]): Promise<string[]> => {
    const args = ['branch', '--format=%(refname:short)', ...filter, '--list', `stepfast/${run}/*`];
    return (await tryGit(project.worktree, args)).out.split('\n').filter(Boolean);
  };
  const unmerged = await list('--no-merged', 'HEAD');
  return (await list()).map((branch) => ({ branch, unmerged: unmerged.includes(branch) }));
}
