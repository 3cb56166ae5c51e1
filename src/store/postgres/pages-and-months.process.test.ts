import pg from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createDatabase, openDatabase, type TestDatabase, withPostgres } from '../../../test/kit/database.ts';
import { begin, mustLoad, note, noteCommand, send } from '../../../test/kit/sample-run.ts';
import { createProjects, dropMonths, migrate } from './index.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await openDatabase();
});

afterAll(() => database[Symbol.asyncDispose]());

describe('pages', () => {
  test('show the newest first, all once, live or ended, whatever begins meanwhile', async () => {
    const project = await database.project();
    const { postgres } = database;
    const store = postgres.store(project);
    for (let count = 0; count < 7; count += 1)
      await begin(store, `r-${count}`, { age: count < 3 ? 0 : count });
    const ended = await mustLoad(store, 'r-5');
    await send(store, ended, {
      type: 'cancel',
      now: ended.state.updatedAt + 1,
      actor: { kind: 'person', name: 'ann' },
    });
    expect((await mustLoad(store, 'r-5')).state.status).toBe('cancelled');
    const all: string[] = [];
    let after: string | undefined;
    for (let pages = 0; pages < 10; pages += 1) {
      const page = await postgres.rows(project).page({ limit: 2, ...(after === undefined ? {} : { after }) });
      all.push(...page.rows.map((info) => info.run));
      await begin(store, `new-${pages}`, { age: -1000 });
      after = page.next;
      if (after === undefined) break;
    }
    expect(all).toEqual(['r-0', 'r-1', 'r-2', 'r-3', 'r-4', 'r-5', 'r-6']);
    const only = async (live: boolean) =>
      (await postgres.rows(project).page({ live, limit: 100 })).rows.map((info) => info.run);
    expect(await only(false)).toEqual(['r-5']);
    expect(await only(true)).not.toContain('r-5');
    expect(await only(true)).toContain('r-0');
  });

  test('end early where runs are large, and so does the tail; all are told', async () => {
    const project = await database.project();
    const { postgres } = database;
    const store = postgres.store(project);
    const runs = Array.from({ length: 5 }, (_, index) => `r-${index}`);
    const { cursor: start } = await postgres.tail(project, undefined, 10);
    for (const [index, id] of runs.entries()) await begin(store, id, { age: index });
    // 6 MB each: JSON may end with spaces.
    for (const [table, column] of [
      ['runs', 'state'],
      ['events', 'body'],
    ])
      await database.sql(
        `update stepfast.${table} set ${column} = ${column} || repeat(' ', 6291456) where project = ${project}`,
      );
    const first = await postgres.rows(project).page({ limit: 100 });
    expect(first.rows.map((info) => info.run)).toEqual(runs.slice(0, 3));
    const second = await postgres.rows(project).page({ limit: 100, after: first.next ?? '' });
    expect(second.rows.map((info) => info.run)).toEqual(runs.slice(3));
    expect(second.next).toBeUndefined();
    expect(await store.list()).toHaveLength(5);
    const told: string[] = [];
    let page = await postgres.tail(project, start, 100);
    for (; page.more; page = await postgres.tail(project, page.cursor, 100)) {
      expect(page.rows).toHaveLength(1);
      told.push(...page.rows.map((row) => row.run));
    }
    expect(told).toEqual(runs);
  });

  test('a state that has grown too large is refused with what to do, and can still be ended', async () => {
    const store = database.postgres.store(await database.project());
    await begin(store, 'big-run');
    const loaded = await mustLoad(store, 'big-run');
    const large = { ...loaded, state: { ...loaded.state, summary: 'x'.repeat(4 * 2 ** 20) } };
    await expect(send(store, large, noteCommand(loaded, 'more'))).rejects.toMatchObject({
      code: 'state_too_large',
      message: expect.stringMatching(/'big-run'.*nothing was done.*start another/),
    });
    expect((await mustLoad(store, 'big-run')).version.seq).toBe(1);
    const actor = { kind: 'person', name: 'ann' } as const;
    await send(store, large, { type: 'cancel', now: loaded.state.updatedAt + 1, actor });
    expect((await mustLoad(store, 'big-run')).state.status).toBe('cancelled');
  });
});

describe('months', () => {
  const months = async (): Promise<string[]> => {
    const rows = await database.sql<{
      name: string;
    }>(`select inhrelid::regclass::text as name from pg_inherits
        where inhparent = 'stepfast.events'::regclass order by 1`);
    return rows.map(({ name }) => name.replace('stepfast.', ''));
  };

  test('are made ahead, by as many servers as like', async () => {
    const coming = await months();
    expect(coming.length).toBeGreaterThanOrEqual(4);
    const last = coming.at(-1);
    await database.sql(`drop table stepfast.${last}`);
    const made = await Promise.all(Array.from({ length: 6 }, () => database.postgres.makeMonths()));
    expect(made.filter((count) => count === 1)).toHaveLength(1);
    expect(await months()).toEqual(coming);
  });

  test('a run that begins in a month without a partition creates it', async () => {
    const all = await months();
    const store = database.postgres.store(await database.project());
    const { name, url } = await createDatabase('template0');
    await migrate(url);
    await database.cluster.query(name, `drop table stepfast.${all[0]}`);
    const { id } = await createProjects(url).create('late');
    await withPostgres(url, async (postgres) => {
      expect(await begin(postgres.store(id), 'first')).toMatchObject({ seq: 1 });
      expect(await note(postgres.store(id), 'first', 'on')).toMatchObject({ seq: 2 });
    });
    expect(await store.ids()).toEqual([]);
  });

  test('a month goes when all its runs have ended before the time, with their texts and keys, and no sooner', async () => {
    const { name, url } = await createDatabase('template0');
    await migrate(url);
    const projects = createProjects(url);
    const [one, two] = [(await projects.create('one')).id, (await projects.create('two')).id];
    await withPostgres(url, async (postgres) => {
      for (const project of [one, two]) {
        const store = postgres.store(project);
        await begin(store, 'old-run');
        await begin(store, 'new-run');
        await store.keep('old-run', 'text');
        await note(store, 'old-run', 'one', { key: 'k', reply: 1 });
      }
      // As if they had begun last spring.
      await database.cluster.query(
        name,
        `create table stepfast.events_2026_03 (like stepfast.events including defaults);
         alter table stepfast.events attach partition stepfast.events_2026_03 for values from ('2026-03-01') to ('2026-04-01');
         update stepfast.runs set began = '2026-03-15' where run = 'old-run';
         update stepfast.events set began = '2026-03-15' where run = 'old-run';`,
      );
      const finish = async (project: number) => {
        const store = postgres.store(project);
        const loaded = await mustLoad(store, 'old-run');
        const now = loaded.state.updatedAt + 1;
        await send(store, loaded, { type: 'cancel', now, actor: { kind: 'person', name: 'ann' } });
        return now;
      };
      const endedAt = await finish(one);
      expect(await dropMonths(url, endedAt + 10)).toEqual([]);
      await finish(two);
      expect(await dropMonths(url, endedAt - 10)).toEqual([]);
      expect(await postgres.store(one).entries('old-run')).toHaveLength(3);
      expect(await dropMonths(url, endedAt + 10)).toEqual(['2026-03']);
      for (const project of [one, two]) {
        const store = postgres.store(project);
        expect(await store.ids()).toEqual(['new-run']);
        expect(await store.entries('old-run')).toEqual([]);
        expect(await store.entries('new-run')).toHaveLength(1);
      }
      for (const table of ['texts', 'keys'])
        expect(await database.cluster.query(name, `select * from stepfast.${table}`)).toEqual([]);
    });
  });

  test('a month stays whole where a run of it goes on while it is being forgotten', async () => {
    const { name, url } = await createDatabase('template0');
    await migrate(url);
    const { id } = await createProjects(url).create('one');
    await withPostgres(url, async (postgres) => {
      const store = postgres.store(id);
      for (const run of ['a-run', 'b-run']) {
        await begin(store, run);
        const loaded = await mustLoad(store, run);
        const actor = { kind: 'person', name: 'ann' } as const;
        await send(store, loaded, { type: 'cancel', now: loaded.state.updatedAt + 1, actor });
      }
      await database.cluster.query(
        name,
        `create table stepfast.events_2026_03 (like stepfast.events including defaults);
         alter table stepfast.events attach partition stepfast.events_2026_03 for values from ('2026-03-01') to ('2026-04-01');
         update stepfast.runs set began = '2026-03-15';
         update stepfast.events set began = '2026-03-15';`,
      );
      const client = new pg.Client({ connectionString: database.cluster.url(name) });
      await client.connect();
      onTestFinished(() => client.end());
      // As a rewind that is not committed yet.
      await client.query(`begin; update stepfast.runs set live = true where run = 'b-run'`);
      let tried = false;
      const dropped = dropMonths(url, Date.now() + 60_000)
        .catch((error: unknown) => error)
        .finally(() => {
          tried = true;
        });
      const waits = `select from pg_stat_activity where wait_event_type = 'Lock' and query like '%drop_month_1%'`;
      for (const until = Date.now() + 60_000; ; ) {
        // It waits no longer than a second, which a slow machine may not see.
        if (tried || (await database.cluster.query(name, waits)).length > 0) break;
        if (Date.now() > until) throw new Error('no query waits for the lock');
      }
      await client.query('commit');
      // A slow machine's month is tried again later.
      expect(JSON.stringify(await dropped)).toMatch(/^\[\]$|55P03/);
      expect((await store.ids()).sort()).toEqual(['a-run', 'b-run']);
      expect(await store.entries('a-run')).toHaveLength(2);
      expect(await store.entries('b-run')).toHaveLength(2);
    });
  });
});
