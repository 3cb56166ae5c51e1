import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { HookInput, HookKind, HookOutput } from '../runtime/index.ts';
import { writeNoFollow } from '../store/index.ts';
import type { Project } from '../workspace/index.ts';
import { unlinkQuietly } from './session-files.ts';
import { hooksFolder, type Notebook } from './session-record.ts';

/**
 * A server that does not answer. Hooks never wait long for it, and what they then do not know they do not do: nothing
 * is denied, held or blocked for want of an answer.
 */
const beginMs = 1_000;
/** A new connection with TLS to a server 80 ms away takes half of it. */
const otherMs = 800;
/** A host ends the hook of a tool after 5 s. */
const mostMs = 4_000;
/** After a server did not answer, the hooks of this time do not ask it. */
const quietMs = 15_000;

/** Those whose answer a session waits for before it can go on well. */
const begins: readonly HookKind[] = ['session_start', 'before_compact', 'after_compact'];

interface Outage {
  since: number;
  last: number;
}

/** `STEPFAST_HOOK_WAIT_MS` is for whoever is far from their server. */
export function patienceFor(
  project: Project,
  kind: HookKind,
  now: number,
  { STEPFAST_HOOK_WAIT_MS: asked }: Readonly<Record<string, string | undefined>> = {},
): number {
  const own = Math.min(Number(asked) || 0, mostMs);
  if (begins.includes(kind)) return own || beginMs;
  const { last = 0 } = outageIn(project) ?? {};
  return now - last < quietMs ? 0 : own || otherMs;
}

/** By its code: the program's larger part is a file of its own, with a class of its own. */
export const isServerError = (error: unknown): error is Error =>
  error instanceof Error && 'code' in error && serverErrors.includes(String(error.code));

const serverErrors: readonly string[] = ['server_unreachable', 'server_failed', 'server_refused'];

export function serverAnswered(project: Project): void {
  unlinkQuietly(fileIn(project));
}

/** The person is told once for each session and time that the server is away. */
export function noteOutage(
  error: Error,
  { kind }: HookInput,
  { project, notebook, now }: { project: Project; notebook: Notebook; now: number },
): HookOutput {
  const before = outageIn(project);
  const { since = now } = before ?? {};
  // Only a hook that asked knows anything new.
  const last = before && patienceFor(project, kind, now) === 0 ? before.last : now;
  try {
    mkdirSync(hooksFolder(project), { recursive: true });
    writeNoFollow(fileIn(project), JSON.stringify({ since, last } satisfies Outage));
  } catch {
    // Then the next hook asks again.
  }
  if (silent.includes(kind) || !notebook.tellOnce(`away ${since}`)) return {};
  return { say: `Stepfast: ${error.message} This session goes on with what was known before.` };
}

const silent: readonly HookKind[] = ['before_compact', 'after_compact', 'session_end', 'subagent_start'];

const fileIn = (project: Project): string => join(hooksFolder(project), 'away.json');

function outageIn(project: Project): Outage | undefined {
  try {
    const { since, last } = JSON.parse(readFileSync(fileIn(project), 'utf8'));
    return typeof since === 'number' && typeof last === 'number' ? { since, last } : undefined;
  } catch {
    return undefined;
  }
}
