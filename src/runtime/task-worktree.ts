import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { StepfastError } from '../errors.ts';
import type { Definition, State } from '../machine/index.ts';
import type { Project } from './project.ts';

/** Where the files of a claimed task are, if it has a tree of its own. */
export function taskWorktree(project: Project, run: string, task: string | undefined): string | undefined {
  if (task === undefined) return undefined;
  const path = pathOf(project, run, task);
  return existsSync(path) ? path : undefined;
}

/**
 * A worktree for the holder of a task, on a branch of its own; undefined where all share one tree, because one agent
 * works at a time or nobody writes. Throws `no_worktree`.
 */
export function makeTaskWorktree(
  project: Project,
  { definition, state }: { definition: Definition; state: State },
  task: string,
): string | undefined {
  if (!needsWorktree(definition, state.step)) return undefined;
  const path = pathOf(project, state.run, task);
  if (existsSync(path)) return path;
  if (!project.git) {
    const message = `'${state.step}' has several agents at work, which needs git: each has a worktree`;
    throw new StepfastError('no_worktree', message);
  }
  const branch = `stepfast/${state.run}/${task}`;
  try {
    execFileSync('git', ['worktree', 'add', '-q', '-B', branch, path, 'HEAD'], {
      cwd: project.worktree,
      stdio: 'pipe',
    });
  } catch (cause) {
    const why = cause instanceof Error && 'stderr' in cause ? String(cause.stderr).trim() : String(cause);
    throw new StepfastError('no_worktree', `git made no worktree for '${task}': ${why}`, { cause });
  }
  return path;
}

function needsWorktree({ steps, loops = {} }: Definition, id: string): boolean {
  const step = steps.find((each) => each.id === id);
  if ((step?.parallel ?? 1) < 2) return false;
  const subSteps = loops[step?.loop ?? id] ?? [];
  return !subSteps.every((sub) => sub.read_only);
}

const pathOf = (project: Project, run: string, task: string): string =>
  join(project.directory, 'worktrees', run, task);
