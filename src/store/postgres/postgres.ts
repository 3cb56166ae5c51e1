import { randomBytes } from 'node:crypto';
import { type PrincipalKind, principalKinds } from '../../schema/index.ts';
import { hashToken, newToken } from '../../token-format.ts';
import type { Store } from '../store.ts';
import type { AuditAction, AuditActor } from './audit.ts';
import { createBoundedCache } from './bounded-cache.ts';
import { createDatabase, type DatabaseOptions, type Query } from './database.ts';
import { createDefinitionCache } from './definition-cache.ts';
import { requireSchema } from './migrate.ts';
import { migrations } from './migrations/list.ts';
import { createNamedMutex } from './named-mutex.ts';
import { createPeople, type People } from './people.ts';
import { toStepfastError, wrapErrors } from './postgres-errors.ts';
import { createProjectRows, type ProjectRows } from './project-rows.ts';
import { createProjectStore } from './project-store.ts';
import type { ProjectRecord } from './projects.ts';
import { createPublications, type Publications } from './publications.ts';
import { readTail, type TailPage } from './read-tail.ts';
import { createRecentRuns } from './recent-runs.ts';
import { createRunPages } from './run-pages.ts';
import { createProjectSessions, type ProjectSessions } from './sessions.ts';
import { statements } from './statements.ts';
import { createUsage, type Quotas } from './usage.ts';
import { createWakeChannel, type WakeListener } from './wake-channel.ts';
import { createWatchers } from './watchers.ts';

/** A token as servers see it. */
export interface TokenRecord {
  id: string;
  project: ProjectRecord;
  kind: PrincipalKind;
  name: string;
  scopes: string[];
  /** The name of the token that it was made with. */
  parent?: string | undefined;
  /** Milliseconds since the epoch; the caller compares it with the clock. */
  expiresAt?: number | undefined;
  /** How many agents use it, if it says so. */
  agents?: number | undefined;
}

/** A token for one session of a runner. */
export interface MadeToken {
  /** What follows the runner's name. */
  name: string;
  seconds: number;
}

/** The database access of a server, with the unprivileged role. Throws StepfastError. */
export interface Postgres {
  store(project: number): Store;
  sessions(project: number): ProjectSessions;
  publications(project: number): Publications;
  people(project: number): People;
  rows(project: number): ProjectRows;
  /** Batches after the cursor; without a cursor only the current end of the stream. */
  tail(project: number, after: string | undefined, limit: number): Promise<TailPage>;
  /** All transactions before `stop` have ended, as far as the tail goes; `next` is the number of the next one. */
  tailEnd(): Promise<{ stop: bigint; next: bigint }>;
  /** Also calls the listener every few seconds; returns a function that unsubscribes. */
  onWake(listener: WakeListener): () => void;
  /** Finds a token by its SHA-256 in hex; revoked tokens are not found. */
  findToken(hash: string): Promise<TokenRecord | undefined>;
  /** Makes a token with that of a runner; undefined if that has ended or has too many. */
  makeToken(
    project: number,
    parent: string,
    made: MadeToken,
  ): Promise<{ id: string; token: string } | undefined>;
  /** Notes that a token is used, at most once a minute. */
  useToken(project: number, id: string): Promise<void>;
  /** Records who did what. */
  audit(project: number, action: AuditAction, by: AuditActor): Promise<void>;
  projectNamed(name: string): Promise<ProjectRecord | undefined>;
  projectIds(): Promise<number[]>;
  /** Creates the partitions of this and the next months; returns how many were missing. */
  makeMonths(): Promise<number>;
  /** Throws if the database is unreachable or its schema does not fit this version. */
  ready(): Promise<void>;
  counts(): { total: number; idle: number; waiting: number };
  close(): Promise<void>;
}

const monthsAhead = 3;
/** Maximum wait for other calls on the same run in this process. */
const maxQueueMs = 6000;
const sharedTurns = 32;

export function createPostgres(options: DatabaseOptions & { quotas?: Quotas }): Postgres {
  const { url, onError = () => {}, limit = 15_000 } = options;
  const database = createDatabase(options);
  const { query } = database;
  const definitions = createDefinitionCache();
  const pages = createRunPages(definitions);
  const recents = createRecentRuns();
  const usage = createUsage(query, options.quotas);
  const wakes = createWakeChannel({ url, onError });
  const watchers = createWatchers(query, wakes);
  /** Runs that other processes write to as well, with the number of turns before it is tried without a lock again. */
  const shared = createBoundedCache<{ left: number; size: number }>(10_000);
  const exclusive = createNamedMutex(Math.min(limit, maxQueueMs));
  const process = randomBytes(6).toString('base64url');
  let nonces = 0;
  const nonce = (): string => {
    nonces += 1;
    return `${process}.${nonces}`;
  };

  function store(project: number): Store {
    if (!Number.isSafeInteger(project)) throw new TypeError('the project must be an integer');
    const moved = (run: string, seq: number): void => {
      watchers.moved(project, run, seq);
      wakes.send(project);
    };
    const watch = (run: string, seq: number, ms: number): Promise<void> =>
      watchers.watch(project, run, seq, ms);
    const parts = { project, definitions, pages, nonce, watch, usage: usage.of(project) };
    return createProjectStore({ ...parts, query, recents, moved, inTurn, locked });

    function inTurn<T>(run: string, action: (shared: boolean) => Promise<T>): Promise<T> {
      return exclusive(`run '${run}' of ${project}`, () => {
        const left = shared.get(project, run)?.left ?? 0;
        if (left > 1) shared.set(project, run, { left: left - 1, size: 1 });
        else shared.forget(project, run);
        return action(left > 0);
      });
    }

    /** Wakes watchers only after the commit. */
    async function locked<T>(run: string, action: (store: Store) => Promise<T>): Promise<T> {
      const after: [string, number][] = [];
      if (!shared.has(project, run)) shared.set(project, run, { left: sharedTurns, size: 1 });
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
        const result = await database.transaction(opening, within);
        for (const each of after) moved(...each);
        // The cached run is outdated now.
        if (after.length > 0) recents.forget(project, run);
        return result;
      } catch (error) {
        throw own?.error === error ? error : toStepfastError(`run '${run}'`, error);
      }
    }
  }

  return {
    store,
    sessions(project) {
      const { join, runsOf } = createProjectSessions(query, pages, project);
      return {
        join: (...args) => wrapErrors('the session', () => join(...args)),
        runsOf: (...args) => wrapErrors('the runs', () => runsOf(...args)),
      };
    },
    publications(project) {
      const { publish, newest, mayStart } = createPublications(query, project);
      return {
        publish: (...args) => wrapErrors('the workflow', () => publish(...args)),
        newest: (...args) => wrapErrors('the workflows', () => newest(...args)),
        mayStart: (...args) => wrapErrors('the workflow', () => mayStart(...args)),
      };
    },
    people(project) {
      const { join, secretOf, makeCredential } = createPeople(query, project);
      return {
        join: (...args) => wrapErrors('the person', () => join(...args)),
        secretOf: (...args) => wrapErrors('the person', () => secretOf(...args)),
        makeCredential: (...args) => wrapErrors('the credential', () => makeCredential(...args)),
      };
    },
    rows(project) {
      const { cursor, put, views, scan, page, list, counts, needs } = createProjectRows(query, project, {
        definitions,
        store: store(project),
      });
      const wrapped =
        <A extends unknown[], R>(call: (...args: A) => Promise<R>) =>
        (...args: A): Promise<R> =>
          wrapErrors('the runs', () => call(...args));
      return {
        cursor: wrapped(cursor),
        put: wrapped(put),
        views: wrapped(views),
        scan: wrapped(scan),
        page: wrapped(page),
        list: wrapped(list),
        counts: wrapped(counts),
        needs: wrapped(needs),
      };
    },
    tail: (project, after, most) => wrapErrors('the stream', () => readTail(query, project, after, most)),
    tailEnd: () =>
      wrapErrors('the stream', async () => {
        const [[stop, next] = []] = await query(statements.tailEnd, []);
        return { stop: BigInt(String(stop)), next: BigInt(String(next)) };
      }),
    onWake: wakes.on,
    findToken: (hash) => wrapErrors('the token', () => findToken(query, hash)),
    makeToken: (project, parent, { name, seconds }) =>
      wrapErrors('the token', async () => {
        const { id, token } = newToken();
        const [[made] = []] = await query(statements.makeToken, [
          ...[project, parent, id, hashToken(token)],
          ...[name.replaceAll('\0', ''), seconds],
        ]);
        return made === true ? { id, token } : undefined;
      }),
    useToken: (project, id) =>
      wrapErrors('the token', async () => void (await query(statements.useToken, [project, id]))),
    audit: (project, { action, subject, details = {} }, { kind, name, token, address, request }) =>
      wrapErrors('the audit', async () => {
        const by = [name.replaceAll('\0', ''), kind, token ?? null, address ?? null, request ?? null];
        await query(statements.audit, [project, action, subject, ...by, JSON.stringify(details)]);
      }),
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
      await usage.close();
      await database.close();
    },
  };
}

async function findToken(query: Query, hash: string): Promise<TokenRecord | undefined> {
  if (!/^[0-9a-f]{64}$/.test(hash)) return undefined;
  const [row] = await query(statements.findToken, [hash]);
  if (!row) return undefined;
  const [id, project, projectName, kind, name, scopes, expires, agents, parent] = row;
  return {
    id: String(id),
    project: { id: Number(project), name: String(projectName) },
    kind: principalKinds.find((each) => each === kind) ?? 'agent',
    name: String(name),
    scopes: Array.isArray(scopes) ? scopes.map(String) : [],
    expiresAt: expires === null ? undefined : Number(expires),
    agents: agents === null ? undefined : Number(agents),
    parent: parent === null ? undefined : String(parent),
  };
}
