/** A PostgreSQL for each worker of vitest. The global setup below starts one when a worker's first test asks for it. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Cluster, type ClusterPlace, clusterAt, type SharedCluster, startCluster } from './postgres.ts';

/** A superuser doesn't own the databases: row level security applies to owners. */
export const owner = 'team_owner';
/** A migrated database to copy. */
export const template = 'migrated';

const variable = 'STEPFAST_TEST_CLUSTERS';

export default async function setup(): Promise<(() => Promise<void>) | undefined> {
  // Another project's setup serves this one too.
  if (process.env[variable] !== undefined) return undefined;
  const clusters = new Map<string, Promise<Cluster>>();
  const server = createServer(async ({ url: worker = '' }, response) => {
    const starting = clusters.get(worker) ?? startMigrated();
    clusters.set(worker, starting);
    try {
      const { bin, port, account, directory } = await starting;
      response.end(JSON.stringify({ bin, port, account, directory } satisfies ClusterPlace));
    } catch (error) {
      response.writeHead(500).end(String(error));
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  process.env[variable] = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return async () => {
    delete process.env[variable];
    server.closeAllConnections();
    server.close();
    for (const started of await Promise.allSettled(clusters.values()))
      if (started.status === 'fulfilled') await started.value.dispose();
  };
}

async function startMigrated(): Promise<Cluster> {
  const { migrateAll } = await import('../../src/cli/serve/migrate.ts');
  const cluster = await startCluster({ fsync: false });
  await cluster.query('postgres', `create role ${owner} login createrole`);
  await cluster.createDatabase(template, 'template0', owner);
  await migrateAll(cluster.url(template, owner));
  return cluster;
}

let asked: Promise<SharedCluster> | undefined;

/** This worker's. Outside vitest, this process gets its own. */
export function workerCluster(): Promise<SharedCluster> {
  asked ??= ask();
  return asked;
}

async function ask(): Promise<SharedCluster> {
  const address = process.env[variable];
  if (address === undefined) return await startMigrated();
  const answer = await fetch(address + process.env.VITEST_POOL_ID);
  if (!answer.ok) throw new Error(await answer.text());
  return clusterAt((await answer.json()) as ClusterPlace);
}
