import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createRemoteEngine, type Engine } from '../../src/engine/index.ts';
import type { Cluster } from '../../test/kit/postgres.ts';
import type { ServerProcess } from '../fleet/ground/servers.ts';
import { createTeam } from '../fleet/ground/team.ts';
import type { Plant } from './drive.ts';
import { createProxy, type Passage } from './proxy.ts';

/** Two servers behind a load balancer, with a database that can be made to fail. */
export interface Ground {
  cluster: Cluster;
  databaseName: string;
  servers: readonly ServerProcess[];
  balancer: Passage;
  /** Proxy between servers and database, if requested. */
  database?: Passage;
  /** The engine of an agent: over HTTP, through the balancer. */
  client: Engine;
  /** An engine in this process with a direct connection to the database, for audits. */
  beside: Engine;
  /** How many responses had this status, according to the server logs. */
  answered(status: number): number;
  /** Resolves when the database and both servers are up again. */
  settled(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface GroundOptions {
  settings?: Readonly<Record<string, string | number>>;
  parent?: string;
  args?: readonly string[];
  env?: Readonly<Record<string, string>>;
  preload?: string;
  slowDatabase?: boolean;
  plant: Plant;
}

export async function createGround(options: GroundOptions): Promise<Ground> {
  const { settings, parent, args = [], env, preload, slowDatabase = false, plant } = options;
  let database: Passage | undefined;
  const running: ServerProcess[] = [];
  const balancer = await createProxy(() => running.map(({ port }) => port));
  const url = `http://127.0.0.1:${balancer.port}`;
  const team = await createTeam({
    servers: 2,
    // Audits can wait longer.
    pool: { max: 4, patience: 60_000 },
    settings: { ...settings, ...(plant === 'async-commit' ? notDurable : {}) },
    ...(parent === undefined ? {} : { parent }),
    server: {
      args: ['--public-url', url, '--rate', '100000', ...args],
      ...(env ? { env } : {}),
      ...(preload === undefined ? {} : { preload }),
    },
    async route(cluster, name) {
      if (!slowDatabase) return cluster.url(name);
      database = await createProxy(() => [cluster.port]);
      return cluster.url(name).replace(`:${cluster.port}/`, `:${database.port}/`);
    },
  });
  const { cluster, servers, token, databaseName, engine: beside } = team;
  running.push(...servers);
  const client = createRemoteEngine({
    url,
    token,
    patienceMs: 30_000,
    ...(plant === 'no-key' ? { fetch: withOtherKeys } : {}),
  });
  return {
    cluster,
    databaseName,
    servers,
    balancer,
    ...(database ? { database } : {}),
    client,
    beside,
    answered: (status) => {
      const logs = servers.map(({ port }) =>
        readFileSync(join(team.directory, `server-${port}.log`), 'utf8'),
      );
      return logs.join('').split(`"status":${status},`).length - 1;
    },
    async settled() {
      await cluster.start();
      await Promise.all(servers.map((server) => server.ready()));
    },
    async [Symbol.asyncDispose]() {
      await balancer.close();
      await team.close();
      await database?.close();
    },
  };
}

/** Commits are acknowledged before they are on disk. */
const notDurable = { synchronous_commit: 'off', wal_writer_delay: '10s' };

/** Every attempt of a call has a new key. */
const withOtherKeys: typeof fetch = (input, init) => {
  if (typeof init?.body !== 'string') return fetch(input, init);
  const body = JSON.parse(init.body);
  if ('key' in body) body.key = randomUUID();
  return fetch(input, { ...init, body: JSON.stringify(body) });
};
