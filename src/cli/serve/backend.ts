import { hashDefinition } from '../../definition/index.ts';
import { createEngine, type Engine, newRun } from '../../engine/index.ts';
import { scopes as known } from '../../schema/index.ts';
import type { Backend } from '../../server/index.ts';
import { loadPostgres } from './database.ts';

interface BackendOptions {
  url: string;
  /** Connections of this process. */
  connections?: number;
  onError(error: Error): void;
}

const mostEngines = 10_000;

/** The engine over PostgreSQL, a project each. */
export async function openBackend({ url, connections, onError }: BackendOptions): Promise<Backend> {
  const { createPostgres } = await loadPostgres();
  const postgres = createPostgres({
    url,
    onError,
    ...(connections === undefined ? {} : { max: connections }),
  });
  const engines = new Map<number, Engine>();

  function engineOf(project: number): Engine {
    const made =
      engines.get(project) ??
      createEngine({ store: postgres.store(project), newRun, hashOf: hashDefinition });
    if (engines.size >= mostEngines) engines.clear();
    engines.set(project, made);
    return made;
  }

  return {
    engine: engineOf,
    page: postgres.page,
    sessions: postgres.sessions,
    tail: postgres.tail,
    onWake: postgres.onWake,
    async findToken(hash) {
      const record = await postgres.findToken(hash);
      // What a newer version may have written is nothing that this one grants.
      return record && { ...record, scopes: known.filter((scope) => record.scopes.includes(scope)) };
    },
    projectNamed: postgres.projectNamed,
    ready: postgres.ready,
    pool: postgres.counts,
    close: postgres.close,
  };
}
