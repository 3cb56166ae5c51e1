import { checkTool, withoutAgentVariables } from '../hosts/index.ts';
import { type LocalRuntime, openRuntime as open } from '../runtime/index.ts';
import { isPerson } from './caller.ts';
import { credentialFrom } from './credential.ts';
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

interface OpenOptions {
  /** Workflows that are trusted for this call. */
  trusted?: readonly string[];
  patienceMs?: number;
  /** A person is never asked for a passphrase. */
  unasked?: boolean;
}

/** Throws bad_config and other errors that prevent opening the project. */
export function openRuntime(
  io: Io,
  values: ProjectValues,
  { trusted = [], patienceMs, unasked = false }: OpenOptions = {},
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
    credential: unasked || !isPerson(io) ? undefined : credentialFrom(io),
  });
}
