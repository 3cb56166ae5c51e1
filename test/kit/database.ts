import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { migrateAll } from '../../src/cli/serve/migrate.ts';
import {
  createPostgres,
  createProjects,
  type DatabaseOptions,
  type Postgres,
} from '../../src/store/postgres/index.ts';
import { owner, template, workerCluster } from './clusters.ts';
import { type Cluster, type ClusterOptions, type SharedCluster, startCluster } from './postgres.ts';

/** A database whose owner is not a superuser. */
export interface OwnedDatabase {
  cluster: SharedCluster;
  name: string;
  /** Connects as the owner; row level security applies to it too. */
  url: string;
  [Symbol.asyncDispose](): Promise<void>;
}

/** A migrated one. */
export interface TestDatabase extends OwnedDatabase {
  /** Closed with the database. */
  postgres: Postgres;
  /** Creates a new project. */
  project(name?: string): Promise<number>;
  /** Queries as the superuser, whom row level security doesn't bind. */
  sql<R extends Record<string, unknown>>(text: string, values?: unknown[]): Promise<R[]>;
}

export type PrivateDatabase = TestDatabase & { cluster: Cluster };

/** An empty database in the worker's cluster, or a copy of the migrated template. */
export async function createDatabase(from: 'template0' | typeof template = template): Promise<OwnedDatabase> {
  const cluster = await workerCluster();
  const name = `test_${randomBytes(6).toString('hex')}`;
  await cluster.createDatabase(name, from, owner);
  return {
    cluster,
    name,
    url: cluster.url(name, owner),
    [Symbol.asyncDispose]: () => cluster.dropDatabase(name),
  };
}

/** A migrated database in the worker's cluster. */
export async function openDatabase(options: Partial<DatabaseOptions> = {}): Promise<TestDatabase> {
  const database = await createDatabase();
  return opened(database, database[Symbol.asyncDispose], options);
}

/** Without retries; closed after the action. */
export async function withPostgres<T>(url: string, action: (postgres: Postgres) => Promise<T>): Promise<T> {
  const postgres = createPostgres({ url, patience: 0 });
  try {
    return await action(postgres);
  } finally {
    await postgres.close();
  }
}

/** A migrated database in a private cluster, for tests that configure, stop or crash it. */
export async function startDatabase(options?: ClusterOptions): Promise<PrivateDatabase> {
  const cluster = await startCluster(options);
  const name = 'team';
  await cluster.query('postgres', `create role ${owner} login createrole`);
  await cluster.createDatabase(name, 'template0', owner);
  const url = cluster.url(name, owner);
  await migrateAll(url);
  return { ...opened({ cluster, name, url }, cluster.dispose), cluster };
}

function opened(
  { cluster, name, url }: Pick<OwnedDatabase, 'cluster' | 'name' | 'url'>,
  dispose: () => Promise<void>,
  options: Partial<DatabaseOptions> = {},
): TestDatabase {
  const postgres = createPostgres({ url, ...options });
  const superuser = new pg.Pool({ connectionString: cluster.url(name), max: 2 });
  // A cluster that crashes ends its idle connections.
  superuser.on('error', () => {});
  let made = 0;
  return {
    cluster,
    name,
    url,
    postgres,
    async project(name) {
      made += 1;
      return (await createProjects(url).create(name ?? `project-${made}`)).id;
    },
    sql: async <R extends Record<string, unknown>>(text: string, values?: unknown[]) =>
      (await superuser.query<R>(text, values)).rows,
    async [Symbol.asyncDispose]() {
      await Promise.all([postgres.close(), superuser.end()]);
      await dispose();
    },
  };
}
