import { existsSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { leftoversText, mergeRunText, mergeTaskText } from '../../messages/index.ts';
import type { Project } from '../project.ts';
import { branchIn, conflictsIn, operationsIn, uncommittedIn, untrackedIn } from './changes.ts';
import { addWorktree, ensureTaskWorktree } from './create.ts';
import { branchRef, commitOf, git, gitFailed, identity, isAncestor, listed, tryGit } from './git.ts';
import { commitLeftovers, type HeldBack } from './leftovers.ts';
import {
  findTaskBranch,
  gitFolderOf,
  mergeWorktreePath,
  repositoryOf,
  taskWorktree,
  worktreesFolder,
} from './places.ts';
import { checkedOutIn } from './registered.ts';
import { resetSubmodules, updateSubmodules } from './submodules.ts';

/** A task of a run, and the branch of the run. */
export interface TaskMerge {
  project: Project;
  run: string;
  task: string;
  branch: string;
}

export interface MergeRequest extends TaskMerge {
  /** The commit of the run's branch on which the merge is based. */
  base: string;
}

export type Merged =
  | {
      base: string;
      commit: string;
      /** The worktree of the queue, in which the commit is checked out. */
      path: string;
    }
  | { conflict: string[]; base: string }
  /** All of the task's work is in the branch already. */
  | { nothing: true }
  /** The worktree of the task has commits that are not on the task's branch. */
  | { elsewhere: string }
  /** A submodule's commit cannot be fetched: it was never pushed. */
  | { submodules: true; base: string };

/**
 * Merges the branch of a task into a commit of its run, in a detached worktree of the queue's own. No branch changes; what
 * was merged before a crash is merged again.
 */
export async function mergeTask({ project, run, task, base }: MergeRequest): Promise<Merged> {
  const here = repositoryOf(project);
  const name = await findTaskBranch(project, run, task);
  const theirs = name === undefined ? undefined : await commitOf(here, branchRef(name));
  const works = taskWorktree(project, run, task);
  const head = works === undefined ? undefined : await commitOf(works, 'HEAD');
  if (head !== undefined && !(await isAncestor(here, head, theirs ?? base))) return { elsewhere: head };
  if (theirs === undefined || (await isAncestor(here, theirs, base))) return { nothing: true };
  const path = mergeWorktreePath(project, run);
  await prepare(project, path, base);
  const args = ['merge', '-q', '--no-ff', '--no-edit', '--no-verify-signatures', '--no-verify'];
  const done = await tryGit(path, [...args, '-m', mergeTaskText(run, task), theirs], await identity(path));
  if (done.code === 0) {
    const commit = await headOf(path);
    return (await hasSubmodules(path)) ? { base, commit, path } : { submodules: true, base };
  }
  const conflict = await conflictsIn(path);
  await tryGit(path, ['merge', '--abort']);
  if (conflict.length === 0) throw gitFailed(args, done);
  return { conflict, base };
}

async function headOf(cwd: string, branch?: string): Promise<string> {
  const name = branch === undefined ? 'HEAD' : branchRef(branch);
  return (await git(cwd, 'rev-parse', '--verify', '-q', `${name}^{commit}`)).trim();
}

async function hasSubmodules(path: string): Promise<boolean> {
  try {
    await resetSubmodules(path);
    return true;
  } catch {
    return false;
  }
}

/**
 * Brings the queue's worktree to a commit. What gates left there is removed, but for ignored files such as installed
 * packages; where that is not possible, the worktree is created again.
 */
async function prepare(project: Project, path: string, commit: string): Promise<void> {
  if (existsSync(path) && (await isPrepared(path, commit))) return;
  await tryGit(repositoryOf(project), ['worktree', 'remove', '--force', '--force', path]);
  rmSync(path, { recursive: true, force: true });
  await addWorktree(project, path, { from: commit });
}

async function isPrepared(path: string, commit: string): Promise<boolean> {
  if (operationsIn(path).includes('MERGE_HEAD')) await tryGit(path, ['merge', '--abort']);
  const { code } = await tryGit(path, ['checkout', '-q', '--force', '--detach', commit]);
  if (code !== 0 || !(await hasSubmodules(path))) return false;
  for (const file of await untrackedIn(path)) rmSync(join(path, file), { recursive: true, force: true });
  return (await uncommittedIn(path)).length === 0 && (await commitOf(path, 'HEAD')) === commit;
}

export type Advanced =
  | 'advanced'
  /** The branch has new commits: merge and check again. */
  | { moved: string }
  /** The recorded base is no longer in the branch. */
  | { rewound: string }
  /** Where the branch is checked out, these uncommitted files would be overwritten. */
  | { dirty: string[] };

const lockTries = 20;
const lockMs = 100;

/** Moves a branch from `base` forward to a commit that was merged and checked. */
export async function advanceBranch({
  project,
  branch,
  base,
  commit,
}: {
  project: Project;
  branch: string;
  base: string;
  commit: string;
}): Promise<Advanced> {
  const here = repositoryOf(project);
  const before = await whereIs(here, branch, base, commit);
  if (before !== undefined) return before;
  const path = await checkedOutIn(project, branch);
  if (path === undefined) {
    const args = ['update-ref', '-m', 'stepfast: merge', branchRef(branch), commit, base];
    const done = await tryGit(here, args);
    if (done.code === 0) return 'advanced';
    const now = await whereIs(here, branch, base, commit);
    if (now === undefined) throw gitFailed(args, done);
    return now;
  }
  const args = ['merge', '-q', '--ff-only', '--no-verify-signatures', '--no-overwrite-ignore', commit];
  let done = await tryGit(path, args);
  const lock = join(gitFolderOf(path), 'index.lock');
  // A person's own git command has it for a moment, or for as long as their editor is open.
  for (let tries = 0; done.code !== 0 && tries < lockTries; tries += 1) {
    if (existsSync(lock)) await new Promise((resolve) => setTimeout(resolve, lockMs));
    else if ((await whereIs(here, branch, base, commit)) || (await inTheWay(path, base, commit)).length > 0)
      break;
    done = await tryGit(path, args);
  }
  if (done.code === 0) {
    const isOwn = dirname(dirname(path)) === worktreesFolder(project);
    // The branch has moved, whatever becomes of them.
    if (isOwn) await updateSubmodules(path).catch(() => {});
    return 'advanced';
  }
  const now = await whereIs(here, branch, base, commit);
  if (now !== undefined) return now;
  const dirty = await inTheWay(path, base, commit);
  if (dirty.length === 0 && existsSync(lock)) return { dirty: [lock] };
  if (dirty.length === 0) throw gitFailed(args, done);
  return { dirty };
}

/** Undefined if the branch is still at `base`. */
async function whereIs(
  here: string,
  branch: string,
  base: string,
  commit: string,
): Promise<Advanced | undefined> {
  const head = await headOf(here, branch);
  if (head === base) return undefined;
  // Before a crash, or a person did it.
  if (await isAncestor(here, commit, head)) return 'advanced';
  return (await isAncestor(here, base, head)) ? { moved: head } : { rewound: head };
}

/** Of the files that change, those that have changes here, and those that are here without being tracked. */
async function inTheWay(path: string, base: string, commit: string): Promise<string[]> {
  const changed = ['diff', '--name-only', '--no-renames', '--no-relative', '-z', base, commit];
  const dirty = new Set(await uncommittedIn(path));
  const tracked = new Set(listed(await git(path, 'ls-files', '-z', '--full-name', ':/')));
  const all = listed(await git(path, ...changed)).filter(
    (file) =>
      dirty.has(file) ||
      [...dirty].some((each) => file.startsWith(`${each}/`)) ||
      (!tracked.has(file) && existsSync(join(path, file))),
  );
  // Git moves no branch while a merge of the person's own is under way.
  return all.length > 0 || operationsIn(path).length === 0 ? all : [...dirty];
}

export type Returned = { merged: string } | { conflict: string[] } | HeldBack;

/**
 * Merges the branch of the run into the worktree of a task, whose uncommitted work is committed first. Conflict markers
 * stay there for the agent. A merge that is under way already, for instance after a crash, is left as it is.
 */
export async function returnToTask({ project, run, task, branch }: TaskMerge): Promise<Returned> {
  const path = await ensureTaskWorktree(project, run, task, branch);
  if (operationsIn(path).includes('MERGE_HEAD')) return { conflict: await conflictsIn(path) };
  const own = await findTaskBranch(project, run, task);
  const left = await commitLeftovers(path, { message: leftoversText(run, task), branch: own });
  if ('held' in left) return left;
  if ((await branchIn(path)) !== own) return { held: 'branch', files: [] };
  const base = await headOf(repositoryOf(project), branch);
  if (await isAncestor(path, base, 'HEAD')) return { merged: await headOf(path) };
  const args = ['merge', '-q', '--ff', '--no-edit', '--no-verify-signatures', '--no-verify'];
  const done = await tryGit(path, [...args, '-m', mergeRunText(run, task), base], await identity(path));
  if (done.code === 0) {
    await updateSubmodules(path);
    return { merged: await headOf(path) };
  }
  const conflict = await conflictsIn(path);
  if (conflict.length === 0) throw gitFailed(args, done);
  // Otherwise the next commit would take a submodule back to where it was here. Git leaves out those in conflict.
  await updateSubmodules(path).catch(() => {});
  return { conflict };
}

/** Checks a commit out in the worktree of the queue. */
export const checkOutInQueue = (project: Project, path: string, commit: string): Promise<void> =>
  prepare(project, path, commit);

export const headOfBranch = (project: Project, branch: string): Promise<string> =>
  headOf(repositoryOf(project), branch);

/** Git's own hash of the files of a commit. */
export const treeOfCommit = async (project: Project, commit: string): Promise<string> =>
  (await git(repositoryOf(project), 'rev-parse', '--verify', '-q', `${commit}^{tree}`)).trim();

/** Whether all commits of a branch or commit are in the branch. */
export const isMerged = (project: Project, commitOrBranch: string, branch: string): Promise<boolean> =>
  isAncestor(repositoryOf(project), commitOrBranch, branchRef(branch));

/** Whether a commit is in the history of another. */
export const isContained = (project: Project, commit: string, head: string): Promise<boolean> =>
  isAncestor(repositoryOf(project), commit, head);
