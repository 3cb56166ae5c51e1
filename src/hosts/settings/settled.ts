import { type Dialect, isRefusal } from './document.ts';
import { type KeptFile, remember } from './ledger.ts';
import { type Entry, isSameEntry, merge } from './merge.ts';
import { asTyped, entriesIn, taken, withoutOurs } from './rewritten.ts';

export interface Settled {
  text: string;
  kept: KeptFile;
}

/**
 * What to write after a host turned `start` into `written`, and what to remember of it. `wanted` is ours to add,
 * `entries` all that may be ours. undefined where nothing of ours is in the file, or it cannot be read.
 */
export function settled(
  {
    path,
    start,
    written,
    known,
  }: { path: string; start: string | undefined; written: string | undefined; known: KeptFile | undefined },
  { wanted, entries }: { wanted: readonly Entry[]; entries: readonly Entry[] },
  dialect: Dialect,
): Settled | undefined {
  const typed =
    start === undefined || written === undefined ? undefined : asTyped(start, written, entries, dialect);
  const host = typed ?? written;
  const there = entriesIn(host ?? '', entries, dialect);
  const ours = [...there, ...wanted.filter((one) => !there.some((each) => isSameEntry(each, one)))];
  if (ours.length === 0) return undefined;
  const theirs = withoutOurs(start, written, entries, dialect);
  // Ours may be older than any record of it.
  const before =
    known || theirs === undefined ? theirs : taken(theirs, entriesIn(theirs, entries, dialect), dialect);
  const merged = merge(host, ours, dialect);
  // Asked of the file as it was, since it tells which groups were there before all of this.
  const whole = merge(before, ours, dialect);
  if (isRefusal(merged) || isRefusal(whole)) return undefined;
  const kept = remember(known, { path, start: before, end: merged.text, added: whole.added }, dialect);
  return { text: merged.text, kept };
}
