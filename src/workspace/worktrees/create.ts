import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { StepfastError } from '../../errors.ts';
import { type Definition, needsWorktree, type State } from '../../machine/index.ts';
import { isAlive } from '../is-alive.ts';
import { waitForGitOf } from '../leftover-processes.ts';
import type { Project } from '../project.ts';
import { bootId } from '../user-state.ts';
import { branchRef, commitOf, tryGit } from './git.ts';
import {
  findTaskBranch,
  gitFolderOf,
  repositoryOf,
  runBranch,
  runWorktreePath,
  taskBranch,
  taskWorktree,
  taskWorktreePath,
} from './places.ts';
import { initSubmodules } from './submodules.ts';

/**
 * Creates a worktree on a separate branch for the holder of a task; undefined if the agents can share one tree, because
 * only one works at a time or none of them writes. A new branch starts at the branch of the run, where it has
 * one. Throws `no_worktree`.
 */
export async function createTaskWorktree(
  project: Project,
  { definition, state }: { definition: Definition; state: State },
  task: string,
): Promise<string | undefined> {
  const { run, step, branch = 'HEAD' } = state;
  if (!needsWorktree(definition, step)) return undefined;
  if (!project.git) {
    const message = `'${step}' runs several agents in parallel, each in its own worktree, which needs git`;
    throw new StepfastError('no_worktree', message);
  }
  return await ensureTaskWorktree(project, run, task, branch);
}

/** That of a task, created again if it was removed. Throws `no_worktree`. */
export async function ensureTaskWorktree(
  project: Project,
  run: string,
  task: string,
  base: string,
): Promise<string> {
  const path = taskWorktree(project, run, task) ?? taskWorktreePath(project, run, task);
  try {
    const branch = (await findTaskBranch(project, run, task)) ?? taskBranch(run, task);
    await addWorktree(project, path, { branch, from: base });
  } catch (cause) {
    throw noWorktree(task, cause);
  }
  return path;
}

/** The worktree in which a run is driven, on a branch of its own. Throws `no_worktree`. */
export async function createRunWorktree(
  project: Project,
  { run, from = 'HEAD' }: { run: string; from?: string },
): Promise<{ path: string; branch: string }> {
  const [path, branch] = [runWorktreePath(project, run), runBranch(run)];
  try {
    await addWorktree(project, path, { branch, from });
  } catch (cause) {
    throw noWorktree(run, cause);
  }
  return { path, branch };
}

const noWorktree = (what: string, cause: unknown): StepfastError => {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new StepfastError('no_worktree', `git could not create a worktree for '${what}': ${why}`, { cause });
};

/** On a new branch, on one that is known, which keeps its commits, or on none. Throws `git_failed`. */
export async function addWorktree(
  project: Project,
  path: string,
  options: { branch?: string; from: string },
): Promise<void> {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  await alone(path, async () => {
    if (existsSync(join(path, '.git')) && !isInterrupted(path)) return;
    // A git that failed halfway may have left a branch or a folder behind, which the second try uses or removes.
    const failed = await tryToAdd(project, path, options);
    const again = failed === undefined ? undefined : await tryToAdd(project, path, options);
    if (again !== undefined) throw new StepfastError('git_failed', again.slice(0, 2000));
  });
  await initSubmodules(path);
}

/** What git says if it fails. */
async function tryToAdd(
  project: Project,
  path: string,
  { branch, from }: { branch?: string; from: string },
): Promise<string | undefined> {
  const here = repositoryOf(project);
  // Git still lists one whose folder was deleted or whose creation was interrupted: it has no work in it.
  await tryGit(here, ['worktree', 'remove', '--force', '--force', path]);
  const known = branch !== undefined && (await commitOf(here, branchRef(branch))) !== undefined;
  const on = known
    ? [path, branch]
    : [...(branch === undefined ? ['--detach'] : ['--no-track', '-b', branch]), path, from];
  // HEAD is that of this worktree.
  const { code, err } = await tryGit(project.worktree, ['worktree', 'add', '-q', ...on]);
  return code === 0 ? undefined : err;
}

/** As long as another process may need to check out its files. */
const creationMs = 60_000;
const pollMs = 100;

/** Git keeps this lock until all files are checked out. */
const lockOf = (path: string): string => join(gitFolderOf(path), 'locked');

function isInterrupted(path: string): boolean {
  try {
    return readFileSync(lockOf(path), 'utf8').trim() === 'initializing';
  } catch {
    return false;
  }
}

/** One caller at a time: another one would take what is being created for what was interrupted. */
async function alone(path: string, create: () => Promise<void>): Promise<void> {
  const mark = `${path}.creating`;
  const boot = bootId('');
  for (;;) {
    try {
      writeFileSync(mark, `${process.pid} ${boot}`, { flag: 'wx' });
      break;
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
      const creator = killedCreator(mark, boot);
      if (creator !== undefined) {
        await waitForGitOf(creator);
        // Another caller may have waited as well, and creates it now.
        if (killedCreator(mark, boot) === creator) rmSync(mark, { force: true });
      } else await new Promise((resolve) => setTimeout(resolve, pollMs));
    }
  }
  try {
    await create();
  } finally {
    rmSync(mark, { force: true });
  }
}

/** The process that created the mark, if it was killed. */
function killedCreator(mark: string, boot: string): number | undefined {
  try {
    const [text = '', of] = readFileSync(mark, 'utf8').split(' ');
    const pid = Number(text);
    const isGone = of === boot && !isAlive(pid);
    return isGone || Date.now() - statSync(mark).mtimeMs > creationMs ? pid : undefined;
  } catch {
    return undefined;
  }
}
