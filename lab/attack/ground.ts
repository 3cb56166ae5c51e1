/** A real server and PostgreSQL with a project that is attacked, and one beside it. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Cluster, startCluster } from '../../test/kit/postgres.ts';
import { becomePerson } from '../../test/kit/server/person.ts';
import { type Cli, createCli, type Served } from '../../test/kit/server/serve.ts';
import type { Probed } from './probe.ts';

export const principals = [
  'nobody',
  'garbage',
  'revoked',
  'expired',
  'invitation',
  'reader',
  'agent',
  'rival',
  'runner',
  'login',
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
  const token = async (name: string, ...args: string[]): Promise<string> => {
    const project = ['stranger', 'neighbor'].includes(name) ? 'beside' : 'attacked';
    return await cli.output('token', 'create', name, '--project', project, ...args);
  };
  const made = {
    revoked: await token('revoked', '--expires', '1h'),
    expired: await token('expired', '--expires', '2h'),
    invitation: await token('invited', '--kind', 'person'),
    reader: await token('reader', '--scope', 'read'),
    agent: await token('agent'),
    rival: await token('rival'),
    runner: await token('runner', '--kind', 'runner'),
    admin: await token('admin', '--kind', 'admin'),
  };
  const neighbor = await token('neighbor');
  const invitations = [await token('ada', '--kind', 'person'), await token('stranger', '--kind', 'person')];
  await cli.output('token', 'revoke', idOf(made.revoked), '--project', 'attacked');
  await cluster.query(
    'stepfast',
    `update stepfast.tokens set expires_at = now() - interval '1 second' where id = $1`,
    [idOf(made.expired)],
  );
  const probed = createCli({
    STEPFAST_DATABASE_URL: database,
    HOME: cluster.directory,
    STEPFAST_ATTACK_PROBE: file,
    NODE_OPTIONS: `--import ${probe} --disable-warning=ExperimentalWarning`,
  });
  const served = await probed.serve();
  while (!existsSync(file)) await sleep(50);
  const [ada, stranger] = await Promise.all(invitations.map((each) => becomePerson(served.url, each)));
  // Longer than the attacks take.
  await cluster.query(
    'stepfast',
    `update stepfast.tokens set expires_at = now() + interval '1 hour' where credential`,
  );
  const tokens = {
    ...made,
    nobody: undefined,
    garbage: `sf_${'0'.repeat(16)}_${'A'.repeat(43)}`,
    login: ada?.login,
    person: ada?.credential,
    stranger: stranger?.credential,
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
      await probed.dispose();
      await cli.dispose();
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
