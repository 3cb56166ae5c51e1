import { appendFileSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { TranscriptRecord } from '../transcript.ts';

type Distribute<T> = T extends unknown ? Omit<T, 'at'> : never;

export interface Transcripts {
  pathOf(session: string): string;
  write(session: string, record: Distribute<TranscriptRecord>): void;
  remove(session: string): void;
}

const keptMs = 30 * 24 * 60 * 60_000;

/** Files of this user's sessions. A disk that is full must not stop a session: then nothing is proven. */
export function openTranscripts(env: NodeJS.ProcessEnv): Transcripts {
  const folder = join(env.XDG_STATE_HOME || join(homedir(), '.local', 'state'), 'stepfast', 'opencode');
  // The id is of the host, and becomes a name of a file.
  const pathOf = (session: string): string => join(folder, `${session.replaceAll(/[^\w-]/g, '_')}.jsonl`);
  quietly(() => {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    for (const name of readdirSync(folder))
      if (Date.now() - statSync(join(folder, name)).mtimeMs > keptMs) rmSync(join(folder, name));
  });
  return {
    pathOf,
    write: (session, record) =>
      quietly(() =>
        appendFileSync(pathOf(session), `${JSON.stringify({ at: Date.now(), ...record })}\n`, {
          mode: 0o600,
        }),
      ),
    remove: (session) => quietly(() => rmSync(pathOf(session), { force: true })),
  };
}

function quietly(action: () => void): void {
  try {
    action();
  } catch {
    // See above.
  }
}
