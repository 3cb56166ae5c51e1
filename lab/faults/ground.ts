import { randomUUID } from 'node:crypto';
import { createRemoteEngine, type Engine } from '../../src/engine/index.ts';
import type { Cluster } from '../../test/kit/postgres.ts';
import type { ServerProcess } from '../fleet/ground/servers.ts';
import { createTeam } from '../fleet/ground/team.ts';
import { type Behaviour, createProxy } from './proxy.ts';

/** A planted bug that the audit must find: clients retry without a key, or commits are not durable. */
export type Plant = 'no-key' | 'async-commit' | undefined;

/** Two servers behind a load balancer, with a database that can be made to fail. */
export interface Ground {
  cluster: Cluster;
  servers: readonly ServerProcess[];
  /** The engine of an agent: over HTTP, through the balancer. */
  client: Engine;
  /** An engine in this process with a direct connection to the database, for audits. */
  beside: Engine;
  /** How many responses had this status, according to the server logs. */
  answered(status: number): number;
  /** How many connections were dropped: of agents, and of servers to the database. */
  cuts(): { cuts: number; databaseCuts: number };
  /** Resolves when the database and both servers are up again. */
  settled(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface GroundOptions {
  settings?: Readonly<Record<string, string | number>>;
  parent?: string;
  env?: Readonly<Record<string, string>>;
  /** How the network behaves between agents and servers, and between servers and the database. */
  network?: { agents: Behaviour; database: Behaviour };
  plant: Plant;
}

export async function createGround({
  settings,
  parent,
  env,
  network,
  plant,
}: GroundOptions): Promise<Ground> {
  await using stack = new AsyncDisposableStack();
  const ports: number[] = [];
  const balancer = stack.use(await createProxy(() => ports, network?.agents));
  const url = `http://127.0.0.1:${balancer.port}`;
  let databaseCuts = () => 0;
  const { cluster, servers, token, engine } = stack.use(
    await createTeam({
      servers: 2,
      // Audits can wait longer.
      pool: { max: 4, patience: 60_000 },
      settings: { ...settings, ...(plant === 'async-commit' ? notDurable : {}) },
      ...(parent === undefined ? {} : { parent }),
      server: { args: ['--public-url', url, '--rate', '100000'], ...(env ? { env } : {}) },
      async route(to, name) {
        if (!network) return to.url(name);
        const proxy = stack.use(await createProxy(() => [to.port], network.database));
        databaseCuts = proxy.cuts;
        return to.url(name).replace(`:${to.port}/`, `:${proxy.port}/`);
      },
    }),
  );
  ports.push(...servers.map(({ port }) => port));
  const fetch = plant === 'no-key' ? { fetch: withOtherKeys } : {};
  const all = stack.move();
  return {
    ...{ cluster, servers, beside: engine },
    client: createRemoteEngine({ url, token, patienceMs: 30_000, ...fetch }),
    answered: (status) => {
      const logs = servers.map((server) => server.log());
      return logs.join('').split(`"status":${status},`).length - 1;
    },
    cuts: () => ({ cuts: balancer.cuts(), databaseCuts: databaseCuts() }),
    async settled() {
      await cluster.start();
      await Promise.all(servers.map((server) => server.ready()));
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
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
