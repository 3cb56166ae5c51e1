import { useSyncExternalStore } from 'react';
import type { Row } from '../api-types.ts';
import { client } from './client.ts';
import { forgetRow, takeRows } from './live-rows.ts';

/** `starting` until the first answer, so that no page begins with a warning; `away` while no one looks. */
type Connection = 'starting' | 'open' | 'away' | 'lost';

let connection: Connection = 'starting';
const listeners = new Set<() => void>();

function setConnection(to: Connection): void {
  connection = to;
  for (const listener of listeners) listener();
}

export const useConnection = (): Connection =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => connection,
  );

/** At once, but at most one call in this time: those made meanwhile are one call. */
function spaced(ms: number, act: () => void): () => void {
  let isDue = false;
  let last = Number.NEGATIVE_INFINITY;
  return () => {
    if (isDue) return;
    isDue = true;
    setTimeout(
      () => {
        isDue = false;
        last = performance.now();
        act();
      },
      Math.max(0, last + ms - performance.now()),
    );
  };
}

const newest = new Map<string, Row>();
const changedRuns = new Set<string>();

const refetchLists = spaced(500, () => {
  void client.invalidateQueries({ queryKey: ['overview'] });
  void client.invalidateQueries({ queryKey: ['rows'] });
});

const refetchRuns = spaced(500, () => {
  for (const run of changedRuns) void client.invalidateQueries({ queryKey: ['run', run] });
  changedRuns.clear();
});

/** A fleet sends hundreds of rows a second; a page needs four updates. */
const applyRows = spaced(250, () => {
  if (takeRows([...newest.values()])) refetchLists();
  for (const run of newest.keys()) changedRuns.add(run);
  newest.clear();
  refetchRuns();
});

const reopenMs = 5000;
const pollMs = 30_000;

/**
 * Open while the tab is in sight: a browser has six connections for all tabs of a server, and with a seventh
 * stream nothing would load any more. Returns what closes it.
 */
export function openStream(): () => void {
  let source: EventSource | undefined;
  let timer = 0;
  let polling = 0;
  const close = (): void => {
    clearTimeout(timer);
    clearInterval(polling);
    source?.close();
    source = undefined;
  };
  const open = (): void => {
    source = listen(() => {
      timer = window.setTimeout(open, reopenMs);
    });
  };
  const follow = (): void => {
    close();
    if (!document.hidden) return open();
    if (connection !== 'lost') setConnection('away');
    // The title of the tab says how much waits.
    polling = window.setInterval(() => void client.invalidateQueries({ queryKey: ['overview'] }), pollMs);
  };
  follow();
  document.addEventListener('visibilitychange', follow);
  return () => {
    document.removeEventListener('visibilitychange', follow);
    close();
  };
}

/** The browser reconnects by itself, but not after an HTTP error: `onClosed` is called then. */
function listen(onClosed: () => void): EventSource {
  const source = new EventSource('/v1/rows/events');
  source.onopen = () => {
    // What happened meanwhile was not sent.
    if (connection === 'lost' || connection === 'away') void client.invalidateQueries();
    setConnection('open');
  };
  source.onerror = () => {
    setConnection('lost');
    if (source.readyState === EventSource.CLOSED) onClosed();
  };
  source.addEventListener('row', ({ data }) => {
    const row: Row = JSON.parse(data);
    newest.set(row.run, row);
    applyRows();
  });
  source.addEventListener('gone', ({ data }) => {
    forgetRow(JSON.parse(data).run);
    refetchLists();
  });
  source.addEventListener('reset', () => void client.invalidateQueries());
  return source;
}
