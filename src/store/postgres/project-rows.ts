import type { StepfastError } from '../../errors.ts';
import { newerError, stateFileVersion } from '../journal-version.ts';
import type { Loaded, Store } from '../store.ts';
import { corrupt } from './batch.ts';
import type { Query } from './database.ts';
import type { DefinitionCache } from './definition-cache.ts';
import { maxPageBytes, type PageRequest } from './run-pages.ts';
import { statements } from './statements.ts';

/** The summary of a run, whatever it says: `body` is JSON. */
export interface StoredRow {
  run: string;
  seq: number;
  tone: string;
  createdAt: number;
  /** Since when it has needed a person. */
  since?: number | undefined;
  searched: string;
  body: string;
}

type ListedRow = { run: string } & ({ body: string } | { view: Loaded } | { problem: string });

/** The summaries of a project's runs, and the runs that they are made from. */
export interface ProjectRows {
  /** How far the summaries are in the stream of batches; undefined before the first time. */
  cursor(): Promise<string | undefined>;
  put(rows: readonly StoredRow[], cursor?: string): Promise<void>;
  views(runs: readonly string[]): Promise<Loaded[]>;
  /** A page of all runs, newest first. */
  scan(after: string | undefined, limit: number): Promise<{ views: Loaded[]; next?: string }>;
  /** A page of all runs, newest first: summaries, or the runs whose summary is missing or outdated. */
  page(request: PageRequest): Promise<{ rows: ListedRow[]; next?: string }>;
  list(wanted: {
    tone?: string | undefined;
    words: readonly string[];
    offset: number;
    limit: number;
  }): Promise<{ total: number; bodies: string[] }>;
  counts(): Promise<Map<string, number>>;
  needs(limit: number): Promise<string[]>;
}

type Row = Awaited<ReturnType<Query>>[number];

const newest = String(2n ** 63n - 1n);

export function createProjectRows(
  query: Query,
  project: number,
  { definitions, store }: { definitions: DefinitionCache; store: Pick<Store, 'load'> },
): ProjectRows {
  return {
    async cursor() {
      const [[cursor] = []] = await query(statements.rowCursor, [project]);
      return cursor === null || cursor === undefined ? undefined : String(cursor);
    },
    async put(rows, cursor) {
      const column = <K extends keyof StoredRow>(name: K) => rows.map((row) => row[name] ?? null);
      await query(statements.putRows, [
        project,
        column('run'),
        column('seq'),
        column('tone'),
        rows.map(({ createdAt }) => Math.trunc(createdAt)),
        rows.map(({ since }) => (since === undefined ? null : Math.trunc(since))),
        rows.map(({ searched }) => searched.replaceAll('\0', ' ')),
        column('body'),
        cursor ?? null,
      ]);
    },
    views: async (runs) => viewsOf(await query(statements.views, [project, runs])),
    async scan(after, limit) {
      const [, ms, run] = /^(-?\d{1,18})_([a-z0-9-]{1,128})$/.exec(after ?? '') ?? [];
      const rows = await query(statements.scan, [project, ms ?? newest, run ?? '', limit]);
      const last = rows.length === limit ? rows.at(-1) : undefined;
      return { views: await viewsOf(rows), ...(last ? { next: `${last[6]}_${last[0]}` } : {}) };
    },
    async page({ live, after, limit }) {
      const [, ms, run] = /^(-?\d{1,18})_([a-z0-9-]{1,128})$/.exec(after ?? '') ?? [];
      const from = [ms ?? newest, run ?? ''];
      const rows = await query(statements.runList, [project, live ?? null, ...from, limit, maxPageBytes]);
      const stale = await viewsOf(rows.filter((row) => row[7] === null));
      const views = new Map(stale.map((view) => [view.run, view]));
      const last = isCut(rows, limit) ? rows.at(-1) : undefined;
      return {
        rows: rows.map((row) => listedRow(row, views)),
        ...(last ? { next: `${last[6]}_${last[0]}` } : {}),
      };
    },
    async list({ tone, words, offset, limit }) {
      const [head, ...rows] = await query(statements.rows, [project, tone ?? null, words, offset, limit]);
      return { total: Number(head?.[0]), bodies: rows.map(([, body]) => String(body)) };
    },
    async counts() {
      const rows = await query(statements.rowCounts, [project]);
      return new Map(rows.map(([tone, number]) => [String(tone), Number(number)]));
    },
    needs: async (limit) =>
      (await query(statements.rowNeeds, [project, limit])).map(([body]) => String(body)),
  };

  async function viewsOf(rows: Awaited<ReturnType<Query>>): Promise<Loaded[]> {
    const texts = await definitions.texts(query, project, new Set(rows.map((row) => String(row[3]))));
    const views = rows.map(async ([id, seq, hash, pinned, format, state]): Promise<Loaded | undefined> => {
      const run = String(id);
      const text = texts.get(String(pinned));
      // Of another version: the store knows what to do.
      if (Number(format) !== stateFileVersion || text === undefined)
        return await store.load(run).catch(() => undefined);
      const version = { seq: Number(seq), hash: String(hash) };
      return {
        run,
        definition: JSON.parse(text),
        hash: String(pinned),
        state: JSON.parse(String(state)),
        version,
      };
    });
    return (await Promise.all(views)).filter((view) => view !== undefined);
  }
}

function listedRow(row: Row, views: ReadonlyMap<string, Loaded>): ListedRow {
  const run = String(row[0]);
  const view = views.get(run);
  if (typeof row[7] === 'string') return { run, body: row[7] };
  return view ? { run, view } : { run, problem: unreadable(run, Number(row[4])).message };
}

const unreadable = (run: string, format: number): StepfastError =>
  format > stateFileVersion ? newerError(run, format) : corrupt(run, 'its state cannot be read');

/** Whether a limit ended the page. */
const isCut = (rows: readonly Row[], limit: number): boolean =>
  rows.length === limit ||
  rows.reduce((sum, row) => sum + Buffer.byteLength(String(row[7] ?? row[5])), 0) >= maxPageBytes;
