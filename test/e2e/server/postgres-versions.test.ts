import pg from 'pg';
import { afterAll, describe, expect, type TestContext, test } from 'vitest';
import type { Cluster } from '../../kit/postgres.ts';
import { type Major, nameOf, startMajor } from '../../kit/postgres-majors.ts';
import { cliOf, ownedDatabase, startTeam } from '../../kit/server/team.ts';

/** The oldest, the system's and the newest in full. */
const majors: Major[] = [14, undefined, 16, 17, 18];
const inFull = new Set<Major>([14, undefined, 18]);

describe.each(majors.map((major) => ({ major, name: nameOf(major) })))('$name', ({ major }) => {
  let starting: ReturnType<typeof startMajor> | undefined;
  const clusterOr = async ({ skip }: TestContext): Promise<Cluster> => {
    starting ??= startMajor(major, { settings: { max_prepared_transactions: 4 } });
    const cluster = await starting;
    return typeof cluster === 'string' ? skip(cluster) : cluster;
  };
  afterAll(async () => {
    const cluster = await starting;
    if (typeof cluster === 'object') await cluster.dispose();
  });

  test('[S3] S9: it serves an owner that is no superuser, whatever goes on in other databases', async (context) => {
    const cluster = await clusterOr(context);
    const { url } = await ownedDatabase(cluster, 'first', 'createrole createdb');
    await using team = await startTeam(url);
    await using held = await holdTransactions(cluster);
    await team.completesRun();
    expect(await team.call('GET', '/readyz')).toMatchObject({ status: 200, body: { tailLagSeconds: 0 } });
    expect(held.count).toBe(2);
  });

  if (!inFull.has(major)) return;
  test('[S3] an owner that may not create roles migrates and serves when an administrator granted it the role', async (context) => {
    const cluster = await clusterOr(context);
    const { url } = await ownedDatabase(cluster, 'second', 'nocreaterole');
    await cluster.query(
      'postgres',
      `do $$ begin create role stepfast_app nologin; exception when duplicate_object then null; end $$`,
    );
    using cli = cliOf(url);
    const refused = await cli.run(['migrate']);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('grant stepfast_app to second');
    await cluster.query('postgres', 'grant stepfast_app to second');
    await using team = await startTeam(url);
    await team.completesRun();
    // Migrating again changes nothing.
    expect(await cli.run(['migrate'])).toMatchObject({ code: 0 });
  });
});

/** A transaction in progress and a prepared one, both of another database and older than all that follows. */
async function holdTransactions(cluster: Cluster): Promise<{ count: number } & AsyncDisposable> {
  const client = new pg.Client({ connectionString: cluster.url('postgres') });
  await client.connect();
  await client.query(`begin; create table prepared (); prepare transaction 'other'`);
  await client.query('begin; create table open ()');
  return {
    count: 2,
    async [Symbol.asyncDispose]() {
      await client.query('rollback');
      await client.query(`rollback prepared 'other'`);
      await client.end();
    },
  };
}
