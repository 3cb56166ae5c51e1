import { mkdirSync, readFileSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { appendNoFollow } from '../../store/index.ts';

/** One delivery, for `doctor`. */
export interface LoggedNotification {
  now: number;
  via: 'bell' | 'command' | 'webhook' | 'notifier';
  ok: boolean;
  problem?: string;
}

const maxBytes = 64 * 1024;

const fileIn = (state: string, older = ''): string => join(state, `notifications${older}.jsonl`);

/** Never throws. */
export function logNotification(state: string, entry: LoggedNotification): void {
  try {
    mkdirSync(state, { recursive: true });
    const file = fileIn(state);
    const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
    if (size > maxBytes) renameSync(file, fileIn(state, '.1'));
    appendNoFollow(file, `${JSON.stringify(entry)}\n`);
  } catch {
    // Nothing depends on it.
  }
}

/** The last delivery of each kind; damaged lines are skipped. */
export function lastNotifications(state: string): LoggedNotification[] {
  const last = new Map<string, LoggedNotification>();
  for (const entry of [fileIn(state, '.1'), fileIn(state)].flatMap(entriesOf)) last.set(entry.via, entry);
  return [...last.values()];
}

function entriesOf(file: string): LoggedNotification[] {
  try {
    return readFileSync(file, 'utf8').split('\n').flatMap(parsed);
  } catch {
    return [];
  }
}

function parsed(line: string): LoggedNotification[] {
  try {
    const entry: { now?: unknown; via?: unknown; ok?: unknown } | null = JSON.parse(line);
    const known = typeof entry?.now === 'number' && typeof entry.via === 'string';
    // Only `logNotification` writes them.
    return known && typeof entry.ok === 'boolean' ? [entry as LoggedNotification] : [];
  } catch {
    return [];
  }
}
