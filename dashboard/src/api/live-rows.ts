import { useSyncExternalStore } from 'react';
import type { Row } from '../api-types.ts';

/** The newest known row of each run: it lies over the windows of the list, which stay as they were fetched. */
const rows = new Map<string, Row>();
const listeners = new Map<string, Set<() => void>>();
/** What the stream said last: a list may have been fetched after a change, and the counts beside it before. */
const streamed = new Map<string, Row>();

export function rememberRows(found: readonly Row[]): void {
  for (const row of found) {
    const known = rows.get(row.run);
    if (!known || known.updatedAt <= row.updatedAt) rows.set(row.run, row);
  }
}

/** Returns whether counts or the order may be different now. */
export function takeRows(changed: readonly Row[]): boolean {
  const told = new Set<() => void>();
  let isRegrouped = false;
  for (const row of changed) {
    const known = streamed.get(row.run);
    streamed.set(row.run, row);
    isRegrouped ||=
      known?.tone !== row.tone || known.needs !== row.needs || known.need?.since !== row.need?.since;
    rows.set(row.run, row);
    for (const listener of listeners.get(row.run) ?? []) told.add(listener);
  }
  for (const listener of told) listener();
  return isRegrouped;
}

export function forgetRow(run: string): void {
  rows.delete(run);
  streamed.delete(run);
}

export function useRow(row: Row): Row {
  return useSyncExternalStore(
    (listener) => {
      const set = listeners.get(row.run) ?? new Set();
      listeners.set(row.run, set.add(listener));
      return () => {
        set.delete(listener);
        if (set.size === 0) listeners.delete(row.run);
      };
    },
    () => {
      const newest = rows.get(row.run);
      return newest && newest.updatedAt >= row.updatedAt ? newest : row;
    },
  );
}
