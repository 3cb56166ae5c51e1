import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Project } from '../project.ts';
import { branchRef, commitOf } from './git.ts';

/**
 * Where Stepfast creates worktrees: outside every repository. Inside a checkout Node finds the `node_modules` of the
 * person, and gates pass that fail elsewhere.
 */
export const worktreesFolder = ({ worktrees }: Project): string => worktrees;

export const runWorktreePath = (project: Project, run: string): string =>
  join(worktreesFolder(project), run, 'run');

/** That of the merge queue. */
export const mergeWorktreePath = (project: Project, run: string): string =>
  join(worktreesFolder(project), run, 'merge');

export const taskWorktreePath = (project: Project, run: string, task: string): string =>
  join(worktreesFolder(project), run, 'task', task);

/** Where the first versions created the worktrees of tasks. */
export const oldWorktreesFolder = ({ directory }: Project): string => join(directory, 'worktrees');

/** The worktree of a claimed task, if it has one. */
export function taskWorktree(project: Project, run: string, task: string | undefined): string | undefined {
  if (task === undefined || task === '') return undefined;
  const places = [taskWorktreePath(project, run, task), join(oldWorktreesFolder(project), run, task)];
  return places.find((path) => existsSync(path));
}

/** The worktree in which a run is driven, if it has one. */
export function runWorktree(project: Project, run: string): string | undefined {
  const path = runWorktreePath(project, run);
  return existsSync(path) ? path : undefined;
}

export const runBranch = (run: string): string => `stepfast/${run}/run`;

export const taskBranch = (run: string, task: string): string => `stepfast/${run}/task/${inRef(task)}`;

/** The branch that a task has, also under the name that the first versions gave it. */
export async function findTaskBranch(
  project: Project,
  run: string,
  task: string,
): Promise<string | undefined> {
  const old = `stepfast/${run}/${inRef(task)}`;
  const names = [taskBranch(run, task), ...(old === runBranch(run) ? [] : [old])];
  for (const name of names)
    if ((await commitOf(repositoryOf(project), branchRef(name))) !== undefined) return name;
  return undefined;
}

/** Git does not accept every id in a branch name, for instance `a.lock`. */
const inRef = (task: string): string => task.replaceAll('.', '%2E');

/** Where commands about branches run: it stays when a worktree is removed. */
export const repositoryOf = ({ root, worktree }: Project): string => (existsSync(root) ? root : worktree);

/** Git's own folder of a worktree. */
export const gitFolderOf = (worktree: string): string =>
  resolve(worktree, /^gitdir:\s*(.+?)\s*$/m.exec(readText(join(worktree, '.git')))?.[1] ?? '.git');

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
