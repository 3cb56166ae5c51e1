import { existsSync, readFileSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { appendNoFollow } from '../store/index.ts';
import type { Project } from '../workspace/index.ts';
import { hooksFolder } from './session-record.ts';

/** What hooks did that the journal has no event for, for `doctor` and `stats`. */
export type Logged =
  | { what: 'error'; event: string; message: string }
  | { what: 'injected' | 'repaired' | 'gave_up'; run: string; session: string; briefing: string; why: string }
  | { what: 'proven'; run: string; session: string; briefing: string; by: 'transcript' | 'handle' }
  | { what: 'held' | 'allowed'; run: string; session: string; why: string }
  | { what: 'denied'; run: string; session: string; tool: string };

const maxBytes = 256 * 1024;
const names = ['log.1.jsonl', 'log.jsonl'];

/** Never throws, and makes no folder: where nothing of Stepfast is, nothing is written. */
export function log(project: Pick<Project, 'directory'>, now: number, entry: Logged): void {
  try {
    const folder = hooksFolder(project);
    if (!existsSync(folder)) return;
    const [older = '', newer = ''] = names;
    const file = join(folder, newer);
    const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
    if (size > maxBytes) renameSync(file, join(folder, older));
    appendNoFollow(file, `${JSON.stringify({ now, ...entry })}\n`);
  } catch {
    // What cannot be told is not worth a session.
  }
}

/** What hooks did here, the oldest first; about half a megabyte is kept. Lines that are none are left out. */
export function hookEvents(project: Pick<Project, 'directory'>): HookEvent[] {
  return names.flatMap((name) => linesOf(join(hooksFolder(project), name)).flatMap(parsed));
}

export type HookEvent = { now: number } & Logged;

const kinds: readonly string[] = [
  'error',
  'injected',
  'repaired',
  'gave_up',
  'proven',
  'held',
  'allowed',
  'denied',
] satisfies Logged['what'][];

function linesOf(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\n');
  } catch {
    return [];
  }
}

function parsed(line: string): HookEvent[] {
  try {
    const event: { now?: unknown; what?: unknown } | null = JSON.parse(line);
    const known = typeof event?.now === 'number' && kinds.includes(String(event.what));
    // Only `log` writes them.
    return known ? [event as HookEvent] : [];
  } catch {
    return [];
  }
}
