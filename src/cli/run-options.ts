import { withoutAgentVariables } from '../hosts/index.ts';
import { type LocalRuntime, openRuntime as open } from '../runtime/index.ts';
import type { Io } from './io.ts';

/** What every command about runs takes. */
export const placeOptions = {
  json: { type: 'boolean' },
  'repo-root': { type: 'string' },
  worktree: { type: 'string' },
} as const;

/** For a command about one run. */
export const runOptions = { ...placeOptions, run: { type: 'string' } } as const;

/** For a command about one position. */
export const positionOptions = { ...runOptions, at: { type: 'string' } } as const;

export interface PlaceValues {
  json?: boolean | undefined;
  'repo-root'?: string | undefined;
  worktree?: string | undefined;
}

/** Throws bad_config and what else keeps a project from being opened. */
export function openRuntime(
  io: Io,
  values: PlaceValues,
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
    clock: io.now,
  });
}

/** Only what was given: the runtime's options know no undefined. */
export const given = <T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } =>
  // The filter takes out exactly what the type leaves out.
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as never;
