import { createPostgres, createProjects, migrate, type Postgres } from '../../src/store/postgres/index.ts';
import { type Cluster, type ClusterOptions, startCluster } from './postgres.ts';

/** A private cluster with a migrated database, whose owner is not a superuser. */
export interface TestDatabase {
  cluster: Cluster;
  name: string;
  /** Connects as the owner; row level security applies to it too. */
  url: string;
  /** Closed with the cluster. */
  postgres: Postgres;
  /** Creates a new project. */
  project(): Promise<number>;
  [Symbol.asyncDispose](): Promise<void>;
}

export async function startDatabase(options?: ClusterOptions): Promise<TestDatabase> {
  const cluster = await startCluster(options);
  const name = 'team';
  await cluster.createDatabase(name);
  await cluster.query('postgres', 'create role team_owner login createrole');
  await cluster.query('postgres', `alter database ${name} owner to team_owner`);
  const url = cluster.url(name, 'team_owner');
  await migrate(url);
  const postgres = createPostgres({ url });
  let made = 0;
  return {
    cluster,
    name,
    url,
    postgres,
    async project() {
      made += 1;
      return (await createProjects(url).create(`project-${made}`)).id;
    },
    async [Symbol.asyncDispose]() {
      await postgres.close();
      await cluster.dispose();
    },
  };
}
