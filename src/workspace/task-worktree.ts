import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { StepfastError } from '../errors.ts';
import { gitEnvironment } from '../evidence/index.ts';
import type { Definition, State } from '../machine/index.ts';
import type { Project } from './project.ts';

/** The worktree of a claimed task, if it has one. */
export function taskWorktree(project: Project, run: string, task: string | undefined): string | undefined {
  if (task === undefined) return undefined;
  const path = pathOf(project, run, task);
  return existsSync(path) ? path : undefined;
}

/**
 * Creates a worktree on a separate branch for the holder of a task; undefined if the agents can share one tree, because
 * only one works at a time or none of them writes. Throws `no_worktree`.
 */
export function createTaskWorktree(
  project: Project,
  { definition, state }: { definition: Definition; state: State },
  task: string,
): string | undefined {
  if (!needsWorktree(definition, state.step)) return undefined;
  const path = pathOf(project, state.run, task);
  if (existsSync(path)) return path;
  if (!project.git) {
    const message = `'${state.step}' runs several agents in parallel, each in its own worktree, which needs git`;
    throw new StepfastError('no_worktree', message);
  }
  const branch = branchOf(state.run, task);
  try {
    // An existing branch keeps its commits.
    const known = git(project, 'branch', '--list', branch) !== '';
    git(project, 'worktree', 'prune');
    git(project, 'worktree', 'add', '-q', ...(known ? [path, branch] : ['-b', branch, path, 'HEAD']));
  } catch (cause) {
    const why = cause instanceof Error && 'stderr' in cause ? String(cause.stderr).trim() : String(cause);
    throw new StepfastError('no_worktree', `git could not create a worktree for '${task}': ${why}`, {
      cause,
    });
  }
  return path;
}

/** Branches of tasks whose work, committed or not, is not in this tree. */
export function unmergedBranches(project: Project, run: string): string[] {
  const folder = join(project.directory, 'worktrees', run);
  if (!existsSync(folder)) return [];
  try {
    const ahead = git(
      project,
      'branch',
      '--format=%(refname:short)',
      '--no-merged',
      'HEAD',
      '--list',
      `stepfast/${run}/*`,
    );
    const dirty = readdirSync(folder)
      .filter((task) => git({ ...project, worktree: join(folder, task) }, 'status', '--porcelain') !== '')
      .map((task) => branchOf(run, task));
    return [...new Set([...ahead.split('\n').filter(Boolean), ...dirty])];
  } catch {
    // A worktree was removed by hand.
    return [];
  }
}

/** Git does not accept every id in a branch name, for instance `a.lock`. */
const branchOf = (run: string, task: string): string => `stepfast/${run}/${task.replaceAll('.', '%2E')}`;

/** Without hooks of the repository, which are not trusted. */
const git = (project: Project, ...args: string[]): string =>
  execFileSync('git', ['-c', 'core.hooksPath=/dev/null', ...args], {
    cwd: project.worktree,
    env: gitEnvironment(process.env),
    encoding: 'utf8',
    stdio: 'pipe',
  }).trim();

/** Several agents write at the same time. */
export function needsWorktree({ steps, loops = {} }: Definition, id: string): boolean {
  const step = steps.find((each) => each.id === id);
  if ((step?.parallel ?? 1) < 2) return false;
  const subSteps = loops[step?.loop ?? id] ?? [];
  return !subSteps.every((sub) => sub.read_only);
}

const pathOf = (project: Project, run: string, task: string): string =>
  join(project.directory, 'worktrees', run, task);
