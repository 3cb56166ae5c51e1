import { randomBytes } from 'node:crypto';
import type { Store } from '../store.ts';
import { createDatabase, type DatabaseOptions, type Query } from './database.ts';
import { createDefinitionCache } from './definition-cache.ts';
import { requireSchema } from './migrate.ts';
import { migrations } from './migrations/list.ts';
import { createNamedMutex } from './named-mutex.ts';
import { toStepfastError, wrapErrors } from './postgres-errors.ts';
import { createProjectStore } from './project-store.ts';
import type { ProjectRecord } from './projects.ts';
import { readTail, type TailPage } from './read-tail.ts';
import { createRecentRuns } from './recent-runs.ts';
import { createRunPages, type PageRequest, type RunPage } from './run-pages.ts';
import { createProjectSessions, type ProjectSessions } from './sessions.ts';
import { statements } from './statements.ts';
import { createWakeChannel, type WakeListener } from './wake-channel.ts';
import { createWatchers } from './watchers.ts';

/** A token as servers know it. */
export interface TokenRecord {
  id: string;
  project: ProjectRecord;
  kind: 'agent' | 'person';
  name: string;
  scopes: string[];
  /** Milliseconds since the epoch; whoever asks looks at the clock. */
  expiresAt?: number;
}

/** All that a server needs of the database, under the role that owns nothing. Throws StepfastError. */
export interface Postgres {
  store(project: number): Store;
  /** Newest first. */
  page(project: number, request: PageRequest): Promise<RunPage>;
  sessions(project: number): ProjectSessions;
  /** Batches after the cursor; without one only where the stream stands now. */
  tail(project: number, after: string | undefined, limit: number): Promise<TailPage>;
  /** Also called every few seconds though nothing happened; answers how to stop listening. */
  onWake(listener: WakeListener): () => void;
  /** By the SHA-256 of the whole token, in hex; what is revoked is not found. */
  findToken(hash: string): Promise<TokenRecord | undefined>;
  projectNamed(name: string): Promise<ProjectRecord | undefined>;
  projectIds(): Promise<number[]>;
  /** The tables of this month and the next ones; how many were missing. */
  makeMonths(): Promise<number>;
  /** Throws where the database cannot be reached or its schema is not the one that this version needs. */
  ready(): Promise<void>;
  counts(): { total: number; idle: number; waiting: number };
  close(): Promise<void>;
}

const monthsAhead = 3;
/** In the line for one run, before PostgreSQL is asked. */
const longestLineMs = 6000;

export function createPostgres(options: DatabaseOptions): Postgres {
  const { url, onError = () => {}, limit = 15_000 } = options;
  const database = createDatabase(options);
  const { query } = database;
  const definitions = createDefinitionCache();
  const pages = createRunPages(definitions);
  const recents = createRecentRuns();
  const wakes = createWakeChannel({ url, onError });
  const watchers = createWatchers(query, wakes);
  const exclusive = createNamedMutex(Math.min(limit, longestLineMs));
  const process = randomBytes(6).toString('base64url');
  let made = 0;
  const nonce = (): string => {
    made += 1;
    return `${process}.${made}`;
  };

  function store(project: number): Store {
    if (!Number.isSafeInteger(project)) throw new TypeError('a project is a number');
    const moved = (run: string, seq: number): void => {
      watchers.moved(project, run, seq);
      wakes.send(project);
    };
    const watch = (run: string, seq: number, ms: number): Promise<void> =>
      watchers.watch(project, run, seq, ms);
    const parts = { project, definitions, pages, nonce, watch };
    return createProjectStore({ ...parts, query, recents, moved, locked });

    /** Nobody is told before the commit. */
    async function locked<T>(run: string, action: (store: Store) => Promise<T>): Promise<T> {
      const after: [string, number][] = [];
      const opening = `begin; select stepfast.lock_1(${project}, '${run.replaceAll("'", "''")}')`;
      let own: { error: unknown } | undefined;
      const within = async (bound: Query): Promise<T> => {
        try {
          return await action(
            createProjectStore({ ...parts, query: bound, moved: (...each) => after.push(each) }),
          );
        } catch (error) {
          own = { error };
          throw error;
        }
      };
      try {
        const result = await exclusive(`run '${run}' of ${project}`, () =>
          database.transaction(opening, within),
        );
        for (const each of after) moved(...each);
        // What is remembered is older now.
        if (after.length > 0) recents.forget(project, run);
        return result;
      } catch (error) {
        throw own?.error === error ? error : toStepfastError(`run '${run}'`, error);
      }
    }
  }

  return {
    store,
    page: (project, request) => wrapErrors('the runs', () => pages.page(query, project, request)),
    sessions(project) {
      const { join, runsOf, definitions: used } = createProjectSessions(query, pages, project);
      return {
        join: (...args) => wrapErrors('the session', () => join(...args)),
        runsOf: (...args) => wrapErrors('the runs', () => runsOf(...args)),
        definitions: (...args) => wrapErrors('the workflows', () => used(...args)),
      };
    },
    tail: (project, after, most) => wrapErrors('the stream', () => readTail(query, project, after, most)),
    onWake: wakes.on,
    findToken: (hash) => wrapErrors('the token', () => findToken(query, hash)),
    projectNamed: (name) =>
      wrapErrors('the project', async () => {
        const [[id] = []] = await query(statements.projectNamed, [name.replaceAll('\0', '')]);
        return typeof id === 'number' ? { id, name } : undefined;
      }),
    projectIds: () =>
      wrapErrors('the projects', async () =>
        (await query(statements.projectIds, [])).map(([id]) => Number(id)),
      ),
    makeMonths: () =>
      wrapErrors('the months', async () =>
        Number((await query(statements.makeMonths, [monthsAhead]))[0]?.[0]),
      ),
    ready: () => requireSchema(database.read, migrations),
    counts: database.counts,
    async close() {
      watchers.close();
      await wakes.close();
      await database.close();
    },
  };
}

async function findToken(query: Query, hash: string): Promise<TokenRecord | undefined> {
  if (!/^[0-9a-f]{64}$/.test(hash)) return undefined;
  const [row] = await query(statements.findToken, [hash]);
  if (!row) return undefined;
  const [id, project, projectName, kind, name, scopes, expires] = row;
  return {
    id: String(id),
    project: { id: Number(project), name: String(projectName) },
    kind: kind === 'person' ? 'person' : 'agent',
    name: String(name),
    scopes: Array.isArray(scopes) ? scopes.map(String) : [],
    ...(expires === null ? {} : { expiresAt: Number(expires) }),
  };
}
