import { checkTool, withoutAgentVariables } from '../hosts/index.ts';
import { type LocalRuntime, openRuntime as open } from '../runtime/index.ts';
import type { Io } from './io.ts';

/** Options of every command that works on a project. */
export const projectOptions = {
  json: { type: 'boolean' },
  'repo-root': { type: 'string' },
  worktree: { type: 'string' },
} as const;

/** For commands on one run. */
export const runOptions = { ...projectOptions, run: { type: 'string' } } as const;

/** For commands on one position. */
export const positionOptions = { ...runOptions, at: { type: 'string' } } as const;

export interface ProjectValues {
  json?: boolean | undefined;
  'repo-root'?: string | undefined;
  worktree?: string | undefined;
}

/** Throws bad_config and other errors that prevent opening the project. */
export function openRuntime(
  io: Io,
  values: ProjectValues,
  trusted: readonly string[] = [],
  patienceMs?: number,
): LocalRuntime {
  const { 'repo-root': repoRoot, worktree } = values;
  return open({
    cwd: io.cwd,
    env: withoutAgentVariables(io.env),
    home: io.home,
    repoRoot,
    worktree,
    trusted,
    patienceMs,
    runner: { program: process.execPath, args: [io.main, 'gate-runner'] },
    notifier: { program: process.execPath, args: [io.main, 'notifier'] },
    clock: io.now,
    checkTool,
  });
}
