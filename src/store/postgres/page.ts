import { newerError, stateFileVersion } from '../migrations.ts';
import type { RunInfo } from '../store.ts';
import type { Query } from './database.ts';
import type { Definitions } from './definitions.ts';
import { statements } from './statements.ts';

export interface PageRequest {
  /** Only those under way, or only those that have ended. */
  live?: boolean | undefined;
  /** The `next` of the page before. */
  after?: string | undefined;
  limit: number;
}

export interface RunPage {
  runs: RunInfo[];
  next?: string;
}

export interface Pages {
  /** Newest first. A run that began meanwhile is on no later page. */
  page(query: Query, project: number, request: PageRequest): Promise<RunPage>;
  /** Of rows as the schema's functions give runs. */
  infos(query: Query, project: number, rows: Awaited<ReturnType<Query>>): Promise<RunInfo[]>;
}

/** About as much is read at once, however many rows are asked for. */
export const mostBytes = 16 * 2 ** 20;

const newest = String(2n ** 63n - 1n);

export function createPages(definitions: Definitions): Pages {
  return {
    infos,
    async page(query, project, { live, after, limit }) {
      const [, ms, run] = /^(-?\d{1,18})_([a-z0-9-]{1,128})$/.exec(after ?? '') ?? [];
      const from = [ms ?? newest, run ?? ''];
      const rows = await query(statements.page, [project, live ?? null, ...from, limit, mostBytes]);
      const runs = await infos(query, project, rows);
      const bytes = rows.reduce((sum, [, , , , state]) => sum + Buffer.byteLength(String(state)), 0);
      const last = rows.length === limit || bytes >= mostBytes ? rows.at(-1) : undefined;
      return last ? { runs, next: `${last[2]}_${last[0]}` } : { runs };
    },
  };

  async function infos(query: Query, project: number, rows: Awaited<ReturnType<Query>>): Promise<RunInfo[]> {
    const hashes = new Set(rows.map(([, definition]) => String(definition)));
    const texts = await definitions.texts(query, project, hashes);
    return rows.map(([id, definition, , format, state]) => {
      const hash = String(definition);
      return infoOf(String(id), Number(format), String(state), () => {
        const text = texts.get(hash);
        return text === undefined ? undefined : definitions.keeps(project, hash, text);
      });
    });
  }
}

function infoOf(run: string, format: number, state: string, keeps: () => boolean | undefined): RunInfo {
  if (format > stateFileVersion) return { run, problem: newerError(run, format).message };
  const keep = keeps();
  return { run, state: JSON.parse(state), ...(keep === undefined ? {} : { keep }) };
}
