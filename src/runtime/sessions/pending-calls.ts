import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, statSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseKey, type SessionKey } from './binding.ts';

/**
 * The session of a tool call. A host passes the id of a call to the hook before it and to the tool. The hook also knows
 * the session and the subagent, so it writes a file that the tool reads. The file is in the user's state directory,
 * because the call may start the first run of a project.
 */
export interface PendingCalls {
  /** Before the call. Idempotent; write errors are ignored. */
  record(call: string, key: SessionKey, now: number): void;
  /** Once for each call; undefined if no hook saw it. */
  take(call: string): SessionKey | undefined;
}

/** A call that was denied is never taken. */
const staleMs = 24 * 3_600_000;
const manyFiles = 64;

export function createPendingCalls(stateDirectory: string): PendingCalls {
  const folder = join(stateDirectory, 'callers');
  const fileOf = (call: string): string =>
    join(folder, createHash('sha256').update(call).digest('hex').slice(0, 32));
  return {
    record(call, { host, session, agent }, now) {
      try {
        mkdirSync(folder, { recursive: true, mode: 0o700 });
        sweep(folder, now);
        // Another copy of the hook writes the same. Where a host gives calls no id, the last one counts.
        writeFileSync(fileOf(call), JSON.stringify({ host, session, agent }), { mode: 0o600 });
      } catch {
        // The call then counts as one without a hook.
      }
    },
    take(call) {
      const file = fileOf(call);
      try {
        const key = parseKey(readFileSync(file, 'utf8'));
        unlinkSync(file);
        return key;
      } catch {
        return undefined;
      }
    },
  };
}

function sweep(folder: string, now: number): void {
  const names = readdirSync(folder);
  if (names.length < manyFiles) return;
  for (const name of names) {
    const file = join(folder, name);
    const { mtimeMs = now } = statSync(file, { throwIfNoEntry: false }) ?? {};
    if (now - mtimeMs > staleMs) unlinkSync(file);
  }
}
