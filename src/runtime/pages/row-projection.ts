import type { Loaded } from '../../store/index.ts';
import { summarizeRun, type Tone } from '../summary/summarize-run.ts';
import type { RowChange, RowSource } from './page-source.ts';
import { type PlainRow, rowOf, searchedText, wordsIn } from './rows.ts';

/** A summary as a database stores it. */
interface StoredRow {
  run: string;
  seq: number;
  tone: string;
  createdAt: number;
  since?: number | undefined;
  searched: string;
  body: string;
}

/** The runs of a project in a database, and the summaries that are stored beside them. */
export interface RowTable {
  cursor(): Promise<string | undefined>;
  put(rows: readonly StoredRow[], cursor?: string): Promise<void>;
  views(runs: readonly string[]): Promise<Loaded[]>;
  scan(after: string | undefined, limit: number): Promise<{ views: Loaded[]; next?: string }>;
  list(wanted: {
    tone?: string | undefined;
    words: readonly string[];
    offset: number;
    limit: number;
  }): Promise<{ total: number; bodies: string[] }>;
  counts(): Promise<Map<string, number>>;
  needs(limit: number): Promise<string[]>;
  /** The runs that have changed after the cursor. `reset`: it is not known any more. */
  changes(after: string | undefined): Promise<{ runs: string[]; cursor: string; more?: true; reset?: true }>;
  /** Returns a function that ends it. */
  onChange(listener: () => void): () => void;
}

const scanned = 200;
/** A list is at most this much behind. */
const freshMs = 300;

type Listener = (change: RowChange<PlainRow>) => void;

/**
 * Rows of runs in a database. They are brought up to date when they are read, so that nothing is slower
 * for projects that no one looks at. Several servers may do that at once.
 */
export function createRowProjection(table: RowTable): RowSource {
  const listeners = new Set<Listener>();
  /** What this process has told its listeners. */
  let cursor: string | undefined;
  let caughtUpAt = 0;
  let catching: Promise<void> | undefined;
  let again = false;
  let stop: (() => void) | undefined;

  return {
    async counts() {
      await fresh();
      const found = await table.counts();
      const count = (tone: Tone): number => found.get(tone) ?? 0;
      return {
        working: count('working'),
        person: count('person'),
        red: count('red'),
        complete: count('complete'),
        failed: count('failed'),
        cancelled: count('cancelled'),
      };
    },
    async rows({ tone, text = '', offset, limit }) {
      await fresh();
      const { total, bodies } = await table.list({ tone, words: wordsIn(text), offset, limit });
      return { total, rows: bodies.map(parse) };
    },
    async needs(limit) {
      await fresh();
      return (await table.needs(limit)).map(parse);
    },
    subscribe(listener) {
      listeners.add(listener);
      stop ??= table.onChange(() => void catchUp().catch(() => {}));
      void catchUp().catch(() => {});
      return () => {
        listeners.delete(listener);
        if (listeners.size > 0) return;
        stop?.();
        stop = undefined;
      };
    },
  };

  async function fresh(): Promise<void> {
    if (Date.now() - caughtUpAt > freshMs) await catchUp();
  }

  /** A change during a round needs another one. */
  function catchUp(): Promise<void> {
    again = true;
    catching ??= rounds().finally(() => {
      catching = undefined;
    });
    return catching;
  }

  async function rounds(): Promise<void> {
    while (again) {
      again = false;
      await round();
    }
    caughtUpAt = Date.now();
  }

  async function round(): Promise<void> {
    cursor ??= await table.cursor();
    if (cursor === undefined) return await readAll();
    for (let more = true; more; ) {
      const changes = await table.changes(cursor);
      // The database was restored.
      if (changes.reset) return await readAll();
      await store(await table.views(changes.runs), changes.cursor === cursor ? undefined : changes.cursor);
      cursor = changes.cursor;
      more = changes.more === true;
    }
  }

  async function readAll(): Promise<void> {
    // Before the first run is read: what changes meanwhile is read again.
    const { cursor: from } = await table.changes(undefined);
    for (let after: string | undefined; ; ) {
      const { views, next } = await table.scan(after, scanned);
      await store(views, undefined);
      if (next === undefined) break;
      after = next;
    }
    await table.put([], from);
    cursor = from;
  }

  async function store(views: readonly Loaded[], upTo: string | undefined): Promise<void> {
    if (views.length === 0 && upTo === undefined) return;
    const rows = views.map((view) => ({ view, row: rowOf(summarizeRun(view)) }));
    await table.put(
      rows.map(({ view, row }) => toStore(view, row)),
      upTo,
    );
    for (const { row } of rows) for (const listener of listeners) listener({ row });
  }
}

/** The summary of a run, as a database stores it. */
export const storedRowOf = (view: Loaded): StoredRow => toStore(view, rowOf(summarizeRun(view)));

const toStore = ({ version }: Loaded, row: PlainRow): StoredRow => ({
  run: row.run,
  seq: version.seq,
  tone: row.tone,
  createdAt: row.createdAt,
  since: row.need?.since,
  searched: searchedText(row),
  body: JSON.stringify(row),
});

const parse = (body: string): PlainRow => JSON.parse(body) as PlainRow;
