import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { serverDownText } from '../messages/index.ts';
import type { HookInput, HookKind, HookOutput } from '../runtime/index.ts';
import { writeNoFollow } from '../store/index.ts';
import type { Project } from '../workspace/index.ts';
import type { HookEnvironment } from './hook-environment.ts';
import { makeFolder, unlinkQuietly } from './session-files.ts';
import { hooksFolder, type SessionRecord } from './session-record.ts';

/**
 * How long hooks wait for a server. While it does not answer, hooks deny, hold and block nothing.
 * The session waits longer for the first kinds, because it cannot work well without their answer.
 */
const startMs = 1_000;
/** A new TLS connection to a server 80 ms away takes half of it. */
const otherMs = 800;
/** After a server did not answer, other hooks do not ask it for this long. */
const quietMs = 15_000;

const startKinds: readonly HookKind[] = ['session_start', 'before_compact'];

interface Outage {
  since: number;
  last: number;
}

/** `STEPFAST_HOOK_WAIT_MS` is for people far from their server. */
export function patienceFor(
  project: Project,
  kind: HookKind,
  { env, now, maxWaitMs }: Pick<HookEnvironment, 'env' | 'now' | 'maxWaitMs'>,
): number {
  const own = Math.min(Number(env.STEPFAST_HOOK_WAIT_MS) || 0, maxWaitMs);
  if (startKinds.includes(kind)) return own || startMs;
  const { last = 0 } = outageIn(project) ?? {};
  return now() - last < quietMs ? 0 : own || otherMs;
}

export const isServerError = (error: unknown): error is Error =>
  error instanceof Error && 'code' in error && serverErrors.includes(String(error.code));

const serverErrors: readonly string[] = ['server_unreachable', 'server_failed', 'server_refused'];

export function serverAnswered(project: Project): void {
  unlinkQuietly(fileIn(project));
}

/** Notifies the person once per session and outage. */
export function noteOutage(
  error: Error,
  { kind }: HookInput,
  { project, record, environment }: { project: Project; record: SessionRecord; environment: HookEnvironment },
): HookOutput {
  const now = environment.now();
  const before = outageIn(project);
  const { since = now } = before ?? {};
  // A hook that did not ask the server learned nothing new.
  const last = before && patienceFor(project, kind, environment) === 0 ? before.last : now;
  try {
    makeFolder(hooksFolder(project));
    writeNoFollow(fileIn(project), JSON.stringify({ since, last } satisfies Outage));
  } catch {
    // Then the next hook asks the server again.
  }
  if (silentKinds.includes(kind) || !record.notifyOnce(`away ${since}`)) return {};
  return { say: serverDownText(error.message) };
}

const silentKinds: readonly HookKind[] = ['before_compact', 'session_end', 'subagent_start'];

const fileIn = (project: Project): string => join(hooksFolder(project), 'away.json');

function outageIn(project: Project): Outage | undefined {
  try {
    const { since, last } = JSON.parse(readFileSync(fileIn(project), 'utf8'));
    return typeof since === 'number' && typeof last === 'number' ? { since, last } : undefined;
  } catch {
    return undefined;
  }
}
