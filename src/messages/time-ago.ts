import { count } from './text.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/** `just now`, `4 min ago`, `3 h ago`, `2 days ago`; a date from two months on. */
export function ago(then: number, now: number): string {
  const past = now - then;
  if (past < minute) return 'just now';
  if (past < hour) return `${Math.floor(past / minute)} min ago`;
  if (past < day) return `${Math.floor(past / hour)} h ago`;
  if (past < 60 * day) return `${count(Math.floor(past / day), 'day')} ago`;
  return new Date(then).toISOString().slice(0, 10);
}

/** `0.4 s`, `12 s`, `3 min 5 s`. */
export function lasting(ms: number): string {
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** Milliseconds of `30d`, `12h`, `90m`, `2w`; undefined where it is none. */
export function duration(text: string): number | undefined {
  const match = /^(\d{1,5})\s*(m|h|d|w)$/.exec(text.trim());
  if (!match) return undefined;
  const unit = { m: minute, h: hour, d: day, w: 7 * day }[match[2] ?? ''] ?? 0;
  return Number(match[1]) * unit;
}
