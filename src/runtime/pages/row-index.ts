import type { FileStore } from '../../store/index.ts';
import { summarizeRun } from '../summary/summarize-run.ts';
import type { RowChange, RowSource } from './page-source.ts';
import { byAge, byWait, isWanted, type PlainRow, rowOf } from './rows.ts';

/** How long a row may be out of date. */
const pollMs = 400;

type Listener = (change: RowChange<PlainRow>) => void;

/** The rows of runs in files. A run is read when its journal has grown; files are looked at while someone asks. */
export function createRowIndex(store: Pick<FileStore, 'sizes' | 'load'>): RowSource {
  const known = new Map<string, { size: number; row: PlainRow | undefined }>();
  const listeners = new Set<Listener>();
  let sorted: PlainRow[] | undefined;
  let refreshing: Promise<void> | undefined;
  let lookedAt = 0;
  let timer: NodeJS.Timeout | undefined;

  return {
    async counts() {
      const counts = { working: 0, person: 0, red: 0, complete: 0, failed: 0, cancelled: 0 };
      for (const { tone } of await all()) counts[tone] += 1;
      return counts;
    },
    async rows({ offset, limit, ...wanted }) {
      const rows = (await all()).filter((row) => isWanted(row, wanted));
      return { total: rows.length, rows: rows.slice(offset, offset + limit) };
    },
    async needs(limit) {
      return (await all())
        .filter(({ needs }) => needs > 0)
        .sort(byWait)
        .slice(0, limit);
    },
    subscribe(listener) {
      listeners.add(listener);
      timer ??= setInterval(() => void refresh().catch(() => {}), pollMs);
      return () => {
        listeners.delete(listener);
        if (listeners.size > 0) return;
        clearInterval(timer);
        timer = undefined;
      };
    },
  };

  async function all(): Promise<PlainRow[]> {
    if (Date.now() - lookedAt > pollMs) await refresh();
    sorted ??= [...known.values()].flatMap(({ row }) => row ?? []).sort(byAge);
    return sorted;
  }

  function refresh(): Promise<void> {
    refreshing ??= look().finally(() => {
      refreshing = undefined;
    });
    return refreshing;
  }

  async function look(): Promise<void> {
    const sizes = await store.sizes();
    for (const run of known.keys())
      if (!sizes.has(run)) {
        known.delete(run);
        tell({ gone: run });
      }
    for (const [run, size] of sizes) {
      if (known.get(run)?.size === size) continue;
      // A damaged run has no row; `stepfast runs` says what is wrong with it.
      const view = await store.load(run).catch(() => undefined);
      const row = view && rowOf(summarizeRun(view));
      known.set(run, { size, row });
      if (row) tell({ row });
    }
    lookedAt = Date.now();
  }

  function tell(change: RowChange<PlainRow>): void {
    sorted = undefined;
    for (const listener of listeners) listener(change);
  }
}
