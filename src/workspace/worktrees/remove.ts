import { existsSync, rmdirSync } from 'node:fs';
import { dirname, relative, sep } from 'node:path';
import type { Project } from '../project.ts';
import { changesIn } from './changes.ts';
import { branchRef, commitOf, git, isAncestor, tryGit } from './git.ts';
import {
  findTaskBranch,
  mergeWorktreePath,
  oldWorktreesFolder,
  repositoryOf,
  runBranch,
  worktreesFolder,
} from './places.ts';
import { checkedOutIn, type Registered, registeredWorktrees } from './registered.ts';

/** Why a worktree stays. */
export type Kept =
  | { kept: 'commits'; commits: string[] }
  | { kept: 'changes'; files: string[] }
  /** A person locked it. */
  | { kept: 'locked' };

/**
 * Removes the worktree and the branch of a task, if all of its commits are in the branch of the run and it has no
 * changes; ignored files go with it.
 */
export async function removeTaskWorktree(
  project: Project,
  run: string,
  task: string,
  branch: string,
): Promise<'removed' | Kept> {
  const name = await findTaskBranch(project, run, task);
  const isOurs = (each: Placed): boolean => each.run === run && each.task === task;
  const place = (await placedWorktrees(project)).find(isOurs);
  const into = branchRef(branch);
  const tips = await tipsOf(project, place, name);
  const commits: string[] = [];
  for (const tip of tips) if (!(await isAncestor(repositoryOf(project), tip, into))) commits.push(tip);
  if (commits.length > 0) return { kept: 'commits', commits };
  return await removePlace(project, place, name, tips);
}

/** Removes the worktree of the merge queue: its merges can be repeated from the branches of the tasks. */
export async function removeMergeWorktree(project: Project, run: string): Promise<void> {
  const path = mergeWorktreePath(project, run);
  if (!existsSync(path)) return;
  await tryGit(repositoryOf(project), ['worktree', 'remove', '--force', path]);
  removeEmptyFolders(project, path);
}

/** The commits that a worktree and its branch are at. */
async function tipsOf(
  project: Project,
  place: Placed | undefined,
  branch: string | undefined,
): Promise<string[]> {
  const tip = branch === undefined ? undefined : await commitOf(repositoryOf(project), branchRef(branch));
  const head = place && (await commitOf(place.path, 'HEAD'));
  return [...new Set([tip, head].filter((each) => each !== undefined))];
}

async function removePlace(
  project: Project,
  place: Placed | undefined,
  branch: string | undefined,
  [tip]: readonly string[],
): Promise<'removed' | Kept> {
  const here = repositoryOf(project);
  if (place) {
    if (place.isLocked) return { kept: 'locked' };
    const files = place.kind === 'merge' ? [] : await changesIn(place.path);
    if (files.length > 0) return { kept: 'changes', files };
    // Git refuses to remove one with submodules otherwise.
    await git(here, 'worktree', 'remove', '--force', place.path);
    removeEmptyFolders(project, place.path);
  }
  if (branch === undefined || tip === undefined || place?.kind === 'run') return 'removed';
  // A person may have it checked out, and it stays as well if it moved meanwhile.
  if ((await checkedOutIn(project, branch)) === undefined)
    await tryGit(here, ['update-ref', '-d', branchRef(branch), tip]);
  return 'removed';
}

/** Up to the folder of all projects. */
function removeEmptyFolders(project: Project, path: string): void {
  const roots = [oldWorktreesFolder(project), dirname(worktreesFolder(project))];
  try {
    for (let folder = dirname(path); roots.every((root) => folder !== root); folder = dirname(folder))
      rmdirSync(folder);
  } catch {
    // It is not empty.
  }
}

/** A worktree that Stepfast created. */
interface Placed extends Registered {
  run: string;
  /** Absent for those of the run and of its merge queue. */
  task?: string;
  kind: 'task' | 'run' | 'merge';
}

/** In the order of git, also of runs that no longer exist. */
async function placedWorktrees(project: Project): Promise<Placed[]> {
  if (!project.git) return [];
  return (await registeredWorktrees(project)).flatMap((each): Placed[] => {
    // A repository that was moved has another folder now.
    const [, run, kind, task, ...more] = inner(dirname(worktreesFolder(project)), each.path);
    if (run !== undefined && more.length === 0) {
      if (kind === 'task' && task !== undefined) return [{ ...each, run, task, kind }];
      if ((kind === 'run' || kind === 'merge') && task === undefined) return [{ ...each, run, kind }];
    }
    const [ofRun, ofTask, ...rest] = inner(oldWorktreesFolder(project), each.path);
    if (ofRun === undefined || ofTask === undefined || rest.length > 0) return [];
    return [{ ...each, run: ofRun, task: ofTask, kind: 'task' }];
  });
}

/** The parts of a path below a folder. */
function inner(folder: string, path: string): string[] {
  const parts = relative(folder, path).split(sep);
  return parts[0] === '..' || parts[0] === '' ? [] : parts;
}

/** A worktree that Stepfast created, and what is only there. */
export interface WorktreeInfo {
  run: string;
  task?: string;
  kind: 'task' | 'run' | 'merge';
  path: string;
  branch?: string;
  holds: 'nothing' | 'commits' | 'changes' | 'both';
  /** A branch that has all of its commits. */
  merged?: string;
  /** A person locked it. */
  locked?: true;
}

/** All worktrees that Stepfast created in this repository. */
export async function listWorktrees(project: Project): Promise<WorktreeInfo[]> {
  const infos: WorktreeInfo[] = [];
  for (const place of await placedWorktrees(project)) infos.push((await inspect(project, place)).info);
  return infos;
}

async function inspect(
  project: Project,
  place: Placed,
): Promise<{ info: WorktreeInfo; tips: string[]; own: string | undefined }> {
  const { run, task, kind, path, isLocked } = place;
  const own =
    kind === 'merge'
      ? undefined
      : task === undefined
        ? runBranch(run)
        : await findTaskBranch(project, run, task);
  const tips = await tipsOf(project, place, own);
  // The branch of a run stays when its worktree is removed.
  const merged = await branchWith(project, run, tips, kind === 'run' ? undefined : own);
  const hasChanges = (await changesIn(path)).length > 0;
  // The queue's merges are repeated from the branches of the tasks.
  const hasCommits = kind !== 'merge' && merged === undefined;
  const holds = hasCommits ? (hasChanges ? 'both' : 'commits') : hasChanges ? 'changes' : 'nothing';
  const info: WorktreeInfo = {
    run,
    ...(task === undefined ? {} : { task }),
    kind,
    path,
    ...(place.branch === undefined ? {} : { branch: place.branch }),
    holds: kind === 'merge' ? 'nothing' : holds,
    ...(merged === undefined ? {} : { merged }),
    ...(isLocked ? { locked: true } : {}),
  };
  return { info, tips, own };
}

/** Another branch that has these commits: that of the run, else the current one, else any that is no task's. */
async function branchWith(
  project: Project,
  run: string,
  tips: readonly string[],
  own: string | undefined,
): Promise<string | undefined> {
  const here = repositoryOf(project);
  const args = ['for-each-ref', '--format=%(refname:short)', 'refs/heads', 'refs/remotes'];
  let common: string[] | undefined;
  for (const tip of tips) {
    const found = (await git(here, ...args, '--contains', tip)).split('\n').filter(Boolean);
    common = common?.filter((branch) => found.includes(branch)) ?? found;
  }
  const others = (common ?? []).filter((branch) => branch !== own && !isOfTask(branch));
  const current = (await tryGit(here, ['symbolic-ref', '-q', '--short', 'HEAD'])).out.trim();
  return [runBranch(run), current, ...others].find((branch) => others.includes(branch));
}

const isOfTask = (branch: string): boolean => /^stepfast\/[^/]+\/(?!run$)/.test(branch);

/** Removes worktrees that hold nothing, and branches of their tasks; `keep` says which runs may still use theirs. */
export async function removeEmptyWorktrees(
  project: Project,
  keep: (run: string) => boolean,
): Promise<WorktreeInfo[]> {
  const removed: WorktreeInfo[] = [];
  for (const place of await placedWorktrees(project)) {
    if (keep(place.run)) continue;
    const { info, tips, own } = await inspect(project, place);
    if (info.holds !== 'nothing') continue;
    if ((await removePlace(project, place, own, tips)) === 'removed') removed.push(info);
  }
  return removed;
}
