import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { migrate, refuseTransactionPooler } from '../../../src/store/postgres/index.ts';
import { freePort } from '../../kit/free-port.ts';
import { type Cluster, startCluster } from '../../kit/postgres.ts';
import { cliOf, ownedDatabase, startTeam } from '../../kit/server/team.ts';

const program = ['/usr/sbin/pgbouncer', 'pgbouncer'].find((each) => {
  try {
    return execFileSync(each, ['--version'], { stdio: 'pipe' });
  } catch {
    return false;
  }
});

let cluster: Cluster;
const poolers: ChildProcess[] = [];

beforeAll(async () => {
  cluster = await startCluster({ fsync: false });
});
afterAll(async () => {
  for (const pooler of poolers) pooler.kill('SIGKILL');
  await cluster?.dispose();
});

/** The URL of the database through a pooler of this mode. */
async function pooled(
  mode: 'transaction' | 'session',
  { name, url }: { name: string; url: string },
): Promise<string> {
  const port = await freePort();
  const directory = join(cluster.directory, `${name}-pooler`);
  const { uid, gid } = cluster.account;
  mkdirSync(directory);
  if (uid !== undefined && gid !== undefined) chownSync(directory, uid, gid);
  const settings = join(directory, 'pgbouncer.ini');
  const users = join(directory, 'users');
  writeFileSync(users, `"${name}" ""\n`);
  writeFileSync(
    settings,
    `[databases]
${name} = host=127.0.0.1 port=${cluster.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${users}
pool_mode = ${mode}
max_client_conn = 200
default_pool_size = 60
`,
  );
  const pooler = spawn(program ?? '', [settings], { ...cluster.account, stdio: 'ignore' });
  await once(pooler, 'spawn');
  poolers.push(pooler);
  const through = url.replace(`:${cluster.port}/`, `:${port}/`);
  await expect.poll(() => connects(through)).toBe(true);
  return through;
}

async function connects(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  return await client.connect().then(
    async () => {
      await client.end();
      return true;
    },
    () => false,
  );
}

describe.skipIf(program === undefined)('PgBouncer', () => {
  test('S9: in transaction mode is refused by commands and servers with what to use instead', async () => {
    const direct = await ownedDatabase(cluster, 'by_transaction');
    const url = await pooled('transaction', direct);
    await expect(migrate(url)).rejects.toMatchObject({ code: 'pooler_unusable' });
    await migrate(direct.url);
    using cli = cliOf(url);
    expect(await cli.run(['serve', '--port', '0'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('session mode'),
    });
    expect(await cli.run(['serve', '--port', '0', '--migrate'])).toMatchObject({ code: 1 });
  });

  test('S9: in transaction mode is refused however busy it is', async () => {
    const url = await pooled('transaction', await ownedDatabase(cluster, 'busy'));
    let over = false;
    const others = Array.from({ length: 4 }, async () => {
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      while (!over) await client.query('select pg_sleep(0.001)');
      await client.end();
    });
    const outcomes = await Promise.all(
      Array.from({ length: 10 }, () => refuseTransactionPooler(url).catch(({ code }) => code)),
    );
    over = true;
    await Promise.all(others);
    expect(outcomes).toEqual(Array.from({ length: 10 }, () => 'pooler_unusable'));
  });

  test('S9: in session mode serves a team', async () => {
    await using team = await startTeam(await pooled('session', await ownedDatabase(cluster, 'by_session')));
    await team.completesRun();
    expect(await team.call('GET', '/readyz')).toMatchObject({ status: 200 });
  });
});

if (program === undefined) test.skip('not run: PgBouncer is not installed');
