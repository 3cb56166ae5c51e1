import { newerError, stateFileVersion } from '../journal-version.ts';
import type { RunInfo } from '../store.ts';
import type { Query } from './database.ts';
import type { DefinitionCache } from './definition-cache.ts';
import { statements } from './statements.ts';

export interface PageRequest {
  /** true: only active runs; false: only ended runs. */
  live?: boolean | undefined;
  /** The `next` of the previous page. */
  after?: string | undefined;
  limit: number;
}

export interface RunPage {
  runs: RunInfo[];
  next?: string;
}

export interface RunPages {
  /** Newest first. Runs started after the first page are not on later pages. */
  page(query: Query, project: number, request: PageRequest): Promise<RunPage>;
  /** Converts rows of the schema's functions. */
  infos(query: Query, project: number, rows: Awaited<ReturnType<Query>>): Promise<RunInfo[]>;
}

/** The approximate limit of one read, whatever number of rows is requested. */
export const maxPageBytes = 16 * 2 ** 20;

const newest = String(2n ** 63n - 1n);

export function createRunPages(definitions: DefinitionCache): RunPages {
  return {
    infos,
    async page(query, project, { live, after, limit }) {
      const [, ms, run] = /^(-?\d{1,18})_([a-z0-9-]{1,128})$/.exec(after ?? '') ?? [];
      const from = [ms ?? newest, run ?? ''];
      const rows = await query(statements.page, [project, live ?? null, ...from, limit, maxPageBytes]);
      const runs = await infos(query, project, rows);
      const bytes = rows.reduce((sum, [, , , , state]) => sum + Buffer.byteLength(String(state)), 0);
      const last = rows.length === limit || bytes >= maxPageBytes ? rows.at(-1) : undefined;
      return last ? { runs, next: `${last[2]}_${last[0]}` } : { runs };
    },
  };

  async function infos(query: Query, project: number, rows: Awaited<ReturnType<Query>>): Promise<RunInfo[]> {
    const hashes = new Set(rows.map(([, definition]) => String(definition)));
    const texts = await definitions.texts(query, project, hashes);
    return rows.map(([id, definition, , format, state]) => {
      const hash = String(definition);
      return rowInfo(String(id), Number(format), String(state), () => {
        const text = texts.get(hash);
        return text === undefined ? undefined : definitions.keeps(project, hash, text);
      });
    });
  }
}

function rowInfo(run: string, format: number, state: string, keeps: () => boolean | undefined): RunInfo {
  if (format > stateFileVersion) return { run, problem: newerError(run, format).message };
  return { run, state: JSON.parse(state), keep: keeps() };
}
