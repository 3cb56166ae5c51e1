import { existsSync, readFileSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { appendNoFollow } from '../store/index.ts';
import type { Project } from '../workspace/index.ts';
import { hooksFolder } from './session-record.ts';

/** What hooks did that is no event of a run, for `doctor` and `stats`. */
export type Logged =
  | { what: 'error'; event: string; message: string }
  | { what: 'injected' | 'repaired' | 'gave_up'; run: string; session: string; briefing: string; why: string }
  | { what: 'proven'; run: string; session: string; briefing: string; by: 'transcript' | 'handle' }
  | { what: 'held' | 'allowed'; run: string; session: string; why: string }
  | { what: 'denied'; run: string; session: string; tool: string };

const maxBytes = 256 * 1024;
const names = ['log.1.jsonl', 'log.jsonl'];

/** Never throws, and creates no folder: without Stepfast's folder nothing is written. */
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
    // A log entry is not worth a failing hook.
  }
}

/** The entries of this project, the oldest first; about half a megabyte is kept. Damaged lines are skipped. */
export function hookLogEntries(project: Pick<Project, 'directory'>): HookLogEntry[] {
  return names.flatMap((name) => linesOf(join(hooksFolder(project), name)).flatMap(parsed));
}

export type HookLogEntry = { now: number } & Logged;

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

function parsed(line: string): HookLogEntry[] {
  try {
    const event: { now?: unknown; what?: unknown } | null = JSON.parse(line);
    const known = typeof event?.now === 'number' && kinds.includes(String(event.what));
    // Only `log` writes them.
    return known ? [event as HookLogEntry] : [];
  } catch {
    return [];
  }
}
