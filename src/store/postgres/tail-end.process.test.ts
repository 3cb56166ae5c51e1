import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  createDatabase,
  type OwnedDatabase,
  openDatabase,
  type TestDatabase,
} from '../../../test/kit/database.ts';
import { begin, mustLoad, note, noteCommand, send } from '../../../test/kit/sample-run.ts';
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

test('S9: each batch is told once and in order, though transactions here and elsewhere overlap', async () => {
  const project = await database.project();
  const { postgres } = database;
  const store = postgres.store(project);
  const runs = ['a', 'b', 'c', 'd', 'e', 'f'];
  const notes = 15;
  for (const run of runs) await begin(store, run);
  const { cursor: start } = await postgres.tail(project, undefined, 10);
  let writing = true;
  const elsewhere = Array.from({ length: 3 }, async (_, index) => {
    while (writing) {
      await using __ = await openTransaction(other.url);
      await sleep(5 + 10 * index);
    }
  });
  const told: string[] = [];
  const reader = (async () => {
    let cursor = start;
    const all = runs.length * notes;
    for (const deadline = Date.now() + 60_000; told.length < all && Date.now() < deadline; ) {
      const page = await postgres.tail(project, cursor, 7);
      expect(page.reset).toBeUndefined();
      told.push(...page.rows.map(({ run, seq }) => `${run} ${seq}`));
      cursor = page.cursor;
    }
  })();
  await Promise.all(
    runs.map(async (run, index) => {
      for (let count = 0; count < notes; count += 1)
        await store.locked?.(run, async (within) => {
          const loaded = await mustLoad(within, run);
          await send(within, loaded, noteCommand(loaded, `${count}`));
          // Commits late, after others with higher numbers.
          await sleep((index * 7 + count * 3) % 20);
        });
    }),
  );
  writing = false;
  await Promise.all([...elsewhere, reader]);
  const expected = runs.flatMap((run) => Array.from({ length: notes }, (_, count) => `${run} ${count + 2}`));
  expect([...told].sort()).toEqual([...expected].sort());
  for (const run of runs)
    expect(told.filter((each) => each.startsWith(run))).toEqual(
      expected.filter((each) => each.startsWith(run)),
    );
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
