import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { writeNoFollow } from '../../store/index.ts';
import { createMarks, type Marks } from '../../workspace/index.ts';
import { fileOf, type SessionKey } from './binding.ts';

/** Runs that ended while a session worked on them: its person sees every end, once. */
export interface EndNotices {
  leave(session: SessionKey, run: string): void;
  /** The run whose end was not shown in this session yet; from now on it counts as shown. */
  take(session: SessionKey): string | undefined;
  /** An end was not shown in this session yet. */
  isLeft(session: SessionKey): boolean;
  /** Forgets what no session came back for. */
  sweep(now: number): void;
  /** The run of this session that ended within the last ten minutes. */
  recent(session: SessionKey, now: number): string | undefined;
}

const prefix = 'end.';
const recentMs = 10 * 60_000;
const staleMs = 24 * 3_600_000;

export function createEndNotices(directory: string): EndNotices {
  const folder = join(directory, 'sessions', 'ended');
  const fileFor = (key: SessionKey): string => join(folder, fileOf(key));
  const reasonFor = (key: SessionKey): string => `${prefix}${fileOf(key).replace(/\.json$/, '')}`;
  const marks = (): Marks => createMarks(directory);
  const isLeft = (key: SessionKey): boolean => marks().reasons().includes(reasonFor(key));
  return {
    leave(key, run) {
      mkdirSync(folder, { recursive: true });
      writeNoFollow(fileFor(key), run);
      marks().want(reasonFor(key), ['stop', 'prompt', 'session_start', 'session_end']);
    },
    isLeft,
    take(key) {
      if (!isLeft(key)) return undefined;
      marks().drop(reasonFor(key));
      return read(fileFor(key));
    },
    sweep(now) {
      for (const reason of marks()
        .reasons()
        .filter((each) => each.startsWith(prefix))) {
        const file = join(folder, `${reason.slice(prefix.length)}.json`);
        if (now - (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0) > staleMs) marks().drop(reason);
      }
    },
    recent(key, now) {
      const ended = statSync(fileFor(key), { throwIfNoEntry: false })?.mtimeMs;
      return ended !== undefined && now - ended < recentMs ? read(fileFor(key)) : undefined;
    },
  };
}

/** Whether any session has an end to show. Cheap, for hooks without a live run. */
export const hasEndNotice = (marks: Marks): boolean =>
  marks.reasons().some((reason) => reason.startsWith(prefix));

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
