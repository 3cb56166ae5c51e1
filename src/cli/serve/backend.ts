import { hashDefinition } from '../../definition/index.ts';
import { createEngine, type Engine, newRun } from '../../engine/index.ts';
import type { PageSource } from '../../runtime/index.ts';
import { scopes as allScopes } from '../../schema/index.ts';
import type { Backend } from '../../server/index.ts';
import type { Quotas } from '../../store/postgres/index.ts';
import { loadPostgres } from './database.ts';
import { createDatabasePages } from './database-pages.ts';
import { listRuns } from './run-list.ts';

interface BackendOptions {
  url: string;
  /** Size of the connection pool. */
  connections: number;
  quotas?: Quotas;
  onError(error: Error): void;
}

const maxEngines = 10_000;

/** The server's backend over PostgreSQL, with one engine per project. */
export async function openBackend({ url, connections, quotas, onError }: BackendOptions): Promise<Backend> {
  const { createPostgres } = await loadPostgres();
  const postgres = createPostgres({ url, onError, max: connections, ...(quotas ? { quotas } : {}) });
  const engines = new Map<number, Engine>();
  const pages = new Map<number, PageSource>();

  function engineOf(project: number): Engine {
    const engine =
      engines.get(project) ??
      createEngine({ store: postgres.store(project), newRun, hashOf: hashDefinition });
    if (engines.size >= maxEngines) engines.clear();
    engines.set(project, engine);
    return engine;
  }

  function pagesOf(project: number): PageSource {
    const source = pages.get(project) ?? createDatabasePages(postgres, engineOf(project), project);
    if (pages.size >= maxEngines) pages.clear();
    pages.set(project, source);
    return source;
  }

  return {
    ...postgres,
    engine: engineOf,
    pages: pagesOf,
    list: (project, request) => listRuns(postgres.rows(project), request),
    async findToken(hash) {
      const record = await postgres.findToken(hash);
      // Ignores scopes that only a newer version knows.
      return record && { ...record, scopes: allScopes.filter((scope) => record.scopes.includes(scope)) };
    },
    pool: postgres.counts,
  };
}
