import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { gitEnvironment } from '../../evidence/index.ts';
import { printable } from '../../messages/index.ts';
import type { Project } from '../../workspace/index.ts';
import type { Io } from '../io.ts';
import { paint } from '../paint.ts';

/** A worktree or branch of a task, which outlives its run. */
export interface TaskTree {
  /** Exactly one of them is set, as git commands take it. */
  worktree?: string;
  branch?: string;
  /** It has changes that are not in the current branch. */
  unmerged: boolean;
}

/** The worktrees and branches of a run's tasks. They are never removed automatically, to keep unmerged work. */
export function taskTrees(project: Project, run: string): TaskTree[] {
  if (!project.git) return [];
  const folder = join(project.directory, 'worktrees', run);
  const worktrees = existsSync(folder) ? readdirSync(folder).map((task) => join(folder, task)) : [];
  const branches = branchesOf(project, run);
  const unmerged = branchesOf(project, run, '--no-merged', 'HEAD');
  return [
    ...worktrees.map((worktree) => ({
      worktree: relative(project.worktree, worktree),
      unmerged: git(worktree, 'status', '--porcelain') !== '',
    })),
    ...branches.map((branch) => ({ branch, unmerged: unmerged.includes(branch) })),
  ];
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

const branchesOf = ({ worktree }: Project, run: string, ...filter: string[]): string[] =>
  git(worktree, 'branch', '--format=%(refname:short)', ...filter, '--list', `stepfast/${run}/*`)
    .split('\n')
    .filter(Boolean);

/** Returns an empty string if git fails. */
function git(cwd: string, ...args: string[]): string {
  try {
    return execFileSync('git', ['-c', 'core.hooksPath=/dev/null', ...args], {
      cwd,
      env: gitEnvironment(process.env),
      encoding: 'utf8',
      stdio: 'pipe',
    }).trim();
  } catch {
    return '';
  }
}
