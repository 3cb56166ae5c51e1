import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { postgresBinaries } from '../../../scripts/install-postgres.ts';
import { type Cluster, startCluster } from '../../kit/postgres.ts';
import { call, definition } from './http-kit.ts';
import { type Cli, createCli } from './serve-kit.ts';

const homes: string[] = [];
afterAll(() => {
  for (const home of homes) rmSync(home, { recursive: true, force: true });
});

function cliOf(databaseUrl: string): Cli {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'stepfast-owner-')));
  homes.push(home);
  mkdirSync(join(home, 'state'));
  return createCli({ HOME: home, XDG_STATE_HOME: join(home, 'state'), STEPFAST_DATABASE_URL: databaseUrl });
}

/** As docs/server.md has it, from an empty database to a run that has moved on. */
async function usesServer(cli: Cli): Promise<void> {
  await cli.output('migrate');
  await cli.output('project', 'create', 'shop');
  const token = await cli.output('token', 'create', 'ci', '--project', 'shop');
  const server = await cli.serve();
  try {
    const ask = (path: string, body: object) => call(server.url, 'POST', path, { token, body });
    const begun = await ask('/v1/runs', {
      definition: { ...definition, steps: [{ id: 'a', type: 'action', instructions: 'x' }] },
      command: { type: 'start' },
    });
    expect(begun.status).toBe(200);
    const { run, reply } = begun.body;
    const advanced = await ask(`/v1/runs/${run}/commands`, {
      command: { type: 'advance', at: reply.at, output: 'done' },
    });
    expect(advanced.body).toMatchObject({ reply: { status: 'complete' } });
  } finally {
    expect(await server.stop()).toBe(0);
  }
}

describe.each([
  ['the PostgreSQL of the system', async () => undefined],
  ['PostgreSQL 18', postgresBinaries],
])('%s', (_, binaries) => {
  let cluster: Cluster;
  const start = async (): Promise<Cluster> => {
    const bin = await binaries();
    cluster ??= await startCluster({ fsync: false, ...(bin === undefined ? {} : { bin }) });
    return cluster;
  };
  afterAll(() => cluster?.dispose());
  const owned = async (name: string, rights: string): Promise<string> => {
    await start();
    await cluster.query('postgres', `create role ${name} login nosuperuser ${rights}`);
    await cluster.createDatabase(name);
    await cluster.query('postgres', `alter database ${name} owner to ${name}`);
    return cluster.url(name, name);
  };

  test('[S3] an owner that is no superuser and may create roles migrates and serves', async () => {
    const cli = cliOf(await owned('first', 'createrole createdb'));
    await usesServer(cli);
    // Migrating again changes nothing.
    expect(await cli.run(['migrate'])).toMatchObject({ code: 0 });
  });

  test('[S3] an owner that may not create roles migrates and serves when an administrator granted it the role', async () => {
    const cli = cliOf(await owned('second', 'nocreaterole'));
    await cluster.query(
      'postgres',
      `do $$ begin create role stepfast_app nologin; exception when duplicate_object then null; end $$`,
    );
    const refused = await cli.run(['migrate']);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('grant stepfast_app to second');
    await cluster.query('postgres', 'grant stepfast_app to second');
    await usesServer(cli);
  });
});
