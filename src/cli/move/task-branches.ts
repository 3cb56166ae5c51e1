import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { gitEnvironment } from '../../evidence/index.ts';
import { printable } from '../../messages/index.ts';
import type { Project } from '../../workspace/index.ts';
import type { Io } from '../io.ts';
import { paint } from '../paint.ts';

/** The work of a task in git, which outlives its run. */
export interface TaskTree {
  /** Both as git commands take them; one of them may be gone. */
  worktree?: string;
  branch?: string;
  /** Something is there that is not in the current branch. */
  unmerged: boolean;
}

/** The worktrees and branches of a run's tasks. Nothing is removed: only git knows what would be lost. */
export function leftBehind(project: Project, run: string): TaskTree[] {
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

export function sayLeft(left: readonly TaskTree[], io: Io): void {
  if (left.length === 0) return;
  io.stderr.write('Its tasks had worktrees and branches of their own, which stay. To remove them:\n');
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

/** Empty where git cannot tell. */
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
