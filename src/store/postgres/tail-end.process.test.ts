import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  createDatabase,
  type OwnedDatabase,
  openDatabase,
  type TestDatabase,
} from '../../../test/kit/database.ts';
import { begin, note } from '../../../test/kit/sample-run.ts';
import { call } from '../../../test/kit/server/http.ts';
import { startTeam } from '../../../test/kit/server/team.ts';

let database: TestDatabase;
let other: OwnedDatabase;

beforeAll(async () => {
  database = await openDatabase();
  other = await createDatabase('template0');
});
afterAll(() => database[Symbol.asyncDispose]());

/** A transaction in progress with a number of its own. */
async function openTransaction(url: string): Promise<AsyncDisposable> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('begin; select pg_current_xact_id()');
  return { [Symbol.asyncDispose]: () => client.end() };
}

test('S9: batches are told while another database has a transaction in progress, and when it ends', async () => {
  const project = await database.project();
  const { postgres } = database;
  const store = postgres.store(project);
  await begin(store, 'told');
  const { cursor } = await postgres.tail(project, undefined, 10);
  const seen: number[] = [];
  {
    await using _ = await openTransaction(other.url);
    await note(store, 'told', 'one');
    const page = await postgres.tail(project, cursor, 10);
    seen.push(...page.rows.map(({ seq }) => seq));
    const { stop, next } = await postgres.tailEnd();
    expect(stop).toBe(next);
  }
  await note(store, 'told', 'two');
  expect(seen).toEqual([2]);
  expect((await postgres.tail(project, cursor, 10)).rows.map(({ seq }) => seq)).toEqual([2, 3]);
});

test('S9: a cursor that was told stays valid when it is unknown again whose transaction an older one is', async () => {
  const project = await database.project();
  const { postgres } = database;
  const store = postgres.store(project);
  await begin(store, 'ahead');
  await using _ = await openTransaction(database.url);
  await note(store, 'ahead', 'one');
  const [{ cursor = '' } = {}] = await database.sql<{ cursor: string }>(
    'select max(tx)::text as cursor from stepfast.events where project = $1',
    [project],
  );
  const { stop } = await postgres.tailEnd();
  expect(BigInt(cursor)).toBeGreaterThan(stop);
  expect(await postgres.tail(project, cursor, 10)).toEqual({ rows: [], cursor });
});

test('S9: what holds streams back in this very database shows as lag in /readyz and /metrics', async () => {
  await using empty = await createDatabase('template0');
  await using team = await startTeam(empty.url);
  const lag = async () => (await team.call('GET', '/readyz')).body.tailLagSeconds;
  const metric = async () =>
    Number(
      /^stepfast_tail_lag_seconds (\S+)$/m.exec((await call(team.server.metricsUrl, 'GET', '')).text)?.[1],
    );
  await team.completesRun();
  expect([await lag(), await metric()]).toEqual([0, 0]);
  {
    await using _ = await openTransaction(empty.url);
    await team.begin();
    await expect.poll(lag).toBeGreaterThan(0.5);
    expect(await metric()).toBeGreaterThan(0.5);
    // Not told yet.
    expect(team.receiver.got).toHaveLength(2);
  }
  await expect.poll(lag).toBe(0);
  await expect.poll(() => team.receiver.got.length).toBe(3);
  await team.completesRun();
});
