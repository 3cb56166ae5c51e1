import { mkdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ended, type Status, statusOf } from '../machine/index.ts';
import { type Loaded, writeNoFollow } from '../store/index.ts';
import { markedRuns, type Project } from '../workspace/index.ts';
import type { HookContext } from './hook-context.ts';

/**
 * A copy of a run that is on a server: for hooks while the server does not answer, for frequent hooks that can do
 * without asking it, and for the status line, which never asks it. Runs in files have none.
 */
export interface LastKnownRun {
  v: 2;
  /** When it was copied, by this machine's clock. */
  at: number;
  phase: Status['phase'];
  view: Loaded;
}

const version = 2;

const fileOf = ({ directory }: Pick<Project, 'directory'>, run: string): string =>
  join(directory, 'sessions', 'server-runs', `${run}.json`);

/** undefined where there is no copy, or only one from before `since`. */
export function lastKnownRun(
  project: Pick<Project, 'directory'>,
  run: string,
  since = 0,
): LastKnownRun | undefined {
  try {
    // Only `keepServerRuns` writes it.
    const known = JSON.parse(readFileSync(fileOf(project, run), 'utf8')) as LastKnownRun;
    return known.v === version && known.at >= since ? known : undefined;
  } catch {
    return undefined;
  }
}

/** Copies every live run that is on a server. */
export async function keepServerRuns({ project, marks, engine, now }: HookContext): Promise<void> {
  for (const run of markedRuns(marks)) {
    if (isInFiles(project, run)) continue;
    const view = await engine.view(run);
    const file = fileOf(project, run);
    if (!view || ended(view.state)) {
      rmSync(file, { force: true });
      continue;
    }
    const { phase } = statusOf(view.definition, view.state);
    mkdirSync(dirname(file), { recursive: true });
    const temporary = `${file}.${process.pid}.tmp`;
    writeNoFollow(temporary, JSON.stringify({ v: version, at: now(), phase, view } satisfies LastKnownRun));
    renameSync(temporary, file);
  }
}

export const isInFiles = ({ directory }: Pick<Project, 'directory'>, run: string): boolean =>
  statSync(join(directory, 'runs', run, 'journal.jsonl'), { throwIfNoEntry: false }) !== undefined;
