/** A real server and PostgreSQL with a project that is attacked, and one beside it. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Cli, createCli, type Served } from '../../test/e2e/server/serve-kit.ts';
import { type Cluster, startCluster } from '../../test/kit/postgres.ts';
import type { Probed } from './probe.ts';

export const principals = [
  'nobody',
  'garbage',
  'revoked',
  'expired',
  'reader',
  'agent',
  'person',
  'admin',
  'stranger',
] as const;
export type Principal = (typeof principals)[number];

export interface Answer {
  status: number;
  text: string;
  code: string | undefined;
}

export interface Ground {
  url: string;
  cli: Cli;
  served: Served;
  cluster: Cluster;
  database: string;
  tokens: Readonly<Record<Principal, string | undefined>>;
  /** Of the project beside. */
  neighbor: string;
  call(as: Principal, method: string, path: string, body?: unknown): Promise<Answer>;
  /** A run of the attacked project. */
  begin(as: Principal, definition: object, more?: object): Promise<string>;
  /** What the server has shown since the last call of this. */
  probe(): Probed;
  [Symbol.asyncDispose](): Promise<void>;
}

export const plain = {
  name: 'plain',
  description: 'Two steps',
  steps: [
    { id: 'plan', type: 'action', instructions: 'Plan.' },
    { id: 'build', type: 'action', instructions: 'Build.' },
  ],
};

export async function createGround(): Promise<Ground> {
  const cluster = await startCluster({ fsync: false });
  await cluster.query('postgres', 'create role stepfast login createrole');
  await cluster.query('postgres', 'create database stepfast owner stepfast');
  const database = cluster.url('stepfast', 'stepfast');
  const file = join(cluster.directory, 'probe.json');
  const probe = new URL('probe.ts', import.meta.url).href;
  const cli = createCli({ STEPFAST_DATABASE_URL: database, HOME: cluster.directory });
  await cli.output('migrate');
  for (const project of ['attacked', 'beside']) await cli.output('project', 'create', project);
  const token = async (project: string, ...args: string[]): Promise<string> =>
    await cli.output('token', 'create', 'x', '--project', project, ...args);
  const [reader, agent, person, admin, stranger, neighbor, revoked, expired] = [
    await token('attacked', '--scope', 'read'),
    await token('attacked'),
    await token('attacked', '--kind', 'person'),
    await token('attacked', '--kind', 'person', '--scope', 'read,write,gates,decide,admin'),
    await token('beside', '--kind', 'person', '--scope', 'read,write,gates,decide,admin'),
    await token('beside'),
    await token('attacked', '--expires', '1h'),
    await token('attacked', '--expires', '2h'),
  ];
  await cli.output('token', 'revoke', idOf(revoked), '--project', 'attacked');
  await cluster.query(
    'stepfast',
    `update stepfast.tokens set expires_at = now() - interval '1 second' where id = $1`,
    [idOf(expired)],
  );
  const probed = createCli({
    STEPFAST_DATABASE_URL: database,
    HOME: cluster.directory,
    STEPFAST_ATTACK_PROBE: file,
    NODE_OPTIONS: `--import ${probe} --disable-warning=ExperimentalWarning`,
  });
  const served = await probed.serve();
  while (!existsSync(file)) await sleep(50);
  const tokens = {
    nobody: undefined,
    garbage: `sf_${'0'.repeat(16)}_${'A'.repeat(43)}`,
    revoked,
    expired,
    reader,
    agent,
    person,
    admin,
    stranger,
  };
  const call: Ground['call'] = async (as, method, path, body) =>
    await request(served.url + path, method, tokens[as], body);
  return {
    url: served.url,
    cli,
    served,
    cluster,
    database,
    tokens,
    neighbor,
    call,
    async begin(as, definition, more = {}) {
      const { status, text } = await call(as, 'POST', '/v1/runs', {
        definition,
        command: { type: 'start', summary: 'x', ...more },
      });
      if (status !== 200) throw new Error(`${status} ${text.slice(0, 300)}`);
      return (JSON.parse(text) as { run: string }).run;
    },
    probe: () => JSON.parse(readFileSync(file, 'utf8')) as Probed,
    async [Symbol.asyncDispose]() {
      probed.dispose();
      cli.dispose();
      await cluster.dispose();
    },
  };
}

const idOf = (token: string): string => token.split('_')[1] ?? '';

export async function request(
  url: string,
  method: string,
  token: string | undefined,
  body?: unknown,
): Promise<Answer> {
  const response = await fetch(url, {
    method,
    headers: {
      ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    },
    signal: AbortSignal.timeout(60_000),
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, text, code: /"code":"(\w+)"/.exec(text)?.[1] };
}
