import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createPostgres, createProjects, dropMonths, migrate } from '../../../src/store/postgres/index.ts';
import { migrate as migrateTo } from '../../../src/store/postgres/migrate.ts';
import { migrations } from '../../../src/store/postgres/migrations/list.ts';
import { startDatabase, type TestDatabase } from '../../kit/database.ts';
import { startCluster } from '../../kit/postgres.ts';
import { begin, mustLoad, note, noteCommand, send } from '../../kit/sample-run.ts';

const run = promisify(execFile);

let database: TestDatabase;
beforeAll(async () => {
  database = await startDatabase({ fsync: false });
}, 240_000);
afterAll(() => database[Symbol.asyncDispose](), 240_000);

const useNumbers = (count: number): string =>
  `do $$ begin for i in 1..${count} loop perform pg_current_xact_id(); commit; end loop; end $$`;

let databases = 0;
async function emptyDatabase(): Promise<{ name: string; url: string }> {
  databases += 1;
  const name = `empty_${databases}`;
  await database.cluster.createDatabase(name);
  await database.cluster.query('postgres', `alter database ${name} owner to team_owner`);
  return { name, url: database.cluster.url(name, 'team_owner') };
}

async function withPostgres<T>(
  url: string,
  action: (postgres: ReturnType<typeof createPostgres>) => Promise<T>,
): Promise<T> {
  const postgres = createPostgres({ url, patience: 0 });
  try {
    return await action(postgres);
  } finally {
    await postgres.close();
  }
}

describe('migrations', () => {
  test('several processes migrate at once, and each migration is applied by exactly one', async () => {
    const { name, url } = await emptyDatabase();
    const entry = join(import.meta.dirname, '../../../src/store/postgres/index.ts');
    const program = `import { migrate } from ${JSON.stringify(entry)};
      console.log(JSON.stringify(await migrate(${JSON.stringify(url)})));`;
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => run(process.execPath, ['--input-type=module', '-e', program])),
    );
    const applied = answers.flatMap(({ stdout }) => JSON.parse(stdout).applied);
    expect(applied.sort()).toEqual(migrations.map((each) => each.name).sort());
    const rows = await database.cluster.query<{ id: number }>(
      name,
      'select id from stepfast.migrations order by id',
    );
    expect(rows.map(({ id }) => id)).toEqual(migrations.map(({ id }) => id));
    expect(await migrate(url)).toEqual({ applied: [], renewed: false });
    await withPostgres(url, (postgres) => expect(postgres.ready()).resolves.toBeUndefined());
  });

  test('they are numbered upwards', () => {
    const ids = migrations.map(({ id }) => id);
    expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));
  });

  test('one that fails leaves nothing of itself, and the next try goes on', async () => {
    const { name, url } = await emptyDatabase();
    const broken = { id: 9000, name: 'broken', sql: 'create table stepfast.half (x int); select 1 / 0' };
    await expect(migrateTo(url, [...migrations, broken])).rejects.toMatchObject({ code: 'migration_failed' });
    const [half] = await database.cluster.query(name, `select to_regclass('stepfast.half') as found`);
    expect(half).toEqual({ found: null });
    const mended = { ...broken, sql: 'create table stepfast.half (x int)' };
    expect(await migrateTo(url, [...migrations, mended])).toMatchObject({ applied: ['broken'] });
  });

  test('a server refuses a database without the schema, an older one and one of a newer generation', async () => {
    const { name, url } = await emptyDatabase();
    const refusal = () =>
      withPostgres(url, (postgres) => postgres.ready().catch((error: unknown) => error as Error));
    expect(await refusal()).toMatchObject({
      code: 'schema_old',
      message: expect.stringContaining('stepfast migrate'),
    });
    await migrateTo(url, migrations.slice(0, 2));
    expect(await refusal()).toMatchObject({
      code: 'schema_old',
      message: expect.stringContaining(migrations.slice(2).map((each) => each.name)[0] ?? ''),
    });
    await migrate(url);
    expect(await refusal()).toBeUndefined();
    await database.cluster.query(name, 'insert into stepfast.migrations (id, name) values (8000, $1)', [
      'next',
    ]);
    expect(await refusal()).toBeUndefined();
    await database.cluster.query(name, 'update stepfast.meta set generation = 2');
    const newer = { code: 'schema_newer', message: expect.stringContaining('update Stepfast') };
    expect(await refusal()).toMatchObject(newer);
    await expect(migrate(url)).rejects.toMatchObject(newer);
  });

  test('a login that is only a member of the role of servers can serve', async () => {
    await database.cluster.query('postgres', 'create role server_login login in role stepfast_app noinherit');
    const url = database.cluster.url(database.name, 'server_login');
    const project = await database.project();
    await withPostgres(url, async (postgres) => {
      await postgres.ready();
      const store = postgres.store(project);
      await begin(store, 'by-login');
      expect((await mustLoad(store, 'by-login')).version.seq).toBe(1);
    });
    await expect(createProjects(url).create('not-allowed')).rejects.toMatchObject({ code: 'store_failed' });
  });
});

describe('a dump restored into another cluster', () => {
  test('is refused until it is migrated, then has everything, and its stream goes on without gap or repeat', async () => {
    const project = await database.project();
    const store = database.postgres.store(project);
    await begin(store, 'travelling');
    for (let count = 0; count < 5; count += 1)
      await note(store, 'travelling', `${count}`, { key: `k${count}`, reply: count });
    const { digest } = await store.keep('travelling', 'text');
    const before = await store.entries('travelling');
    // So that its numbers are far ahead of those of a young cluster.
    await database.cluster.query(database.name, useNumbers(3000));
    await note(store, 'travelling', 'last');
    const { cursor } = await database.postgres.tail(project, undefined, 10);

    await using other = await startCluster({ fsync: false });
    const { bin, directory, account } = other;
    const file = join(directory, 'dump');
    await run(join(bin, 'pg_dump'), ['-Fc', '-f', file, database.cluster.url(database.name)], account);
    await other.query('postgres', 'create role team_owner login createrole');
    await other.createDatabase('team');
    await other.query('postgres', 'alter database team owner to team_owner');
    // Roles are in no dump: what is granted to the role of servers is granted by the migration.
    await run(join(bin, 'pg_restore'), ['-d', other.url('team'), file], account).catch((error: Error) =>
      expect(error.message).toContain('role "stepfast_app" does not exist'),
    );
    const url = other.url('team', 'team_owner');
    await withPostgres(url, (postgres) =>
      expect(postgres.ready()).rejects.toMatchObject({
        message: expect.stringContaining('run `stepfast migrate` first'),
      }),
    );
    expect(await migrate(url)).toEqual({ applied: [], renewed: true });
    expect(await migrate(url)).toEqual({ applied: [], renewed: false });
    await withPostgres(url, async (postgres) => {
      await postgres.ready();
      const restored = postgres.store(project);
      expect((await restored.entries('travelling')).slice(0, before.length)).toEqual(before);
      expect((await mustLoad(restored, 'travelling', 'k3')).repeated).toEqual({ reply: 3 });
      expect(await restored.text('travelling', digest)).toBe('text');
      const anew = await postgres.tail(project, cursor, 100);
      expect(anew).toMatchObject({ rows: [], reset: true });
      await note(restored, 'travelling', 'after the restore');
      const told = await postgres.tail(project, anew.cursor, 100);
      expect(told.rows.map(({ seq }) => seq)).toEqual([before.length + 2]);
      expect(told).not.toHaveProperty('reset');
      // When the young cluster reaches the old numbers, nothing is told again.
      await other.query('team', useNumbers(4000));
      await note(restored, 'travelling', 'later');
      const later = await postgres.tail(project, told.cursor, 100);
      expect(later.rows.map(({ seq }) => seq)).toEqual([before.length + 3]);
    });
  });
});

describe('the tail', () => {
  test('tells each batch once, in order, though transactions commit late', async () => {
    const project = await database.project();
    const { postgres } = database;
    const store = postgres.store(project);
    for (const each of ['early', 'late', 'gone']) await begin(store, each);
    const start = (await postgres.tail(project, undefined, 100)).cursor;

    let release = (): void => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    let written = (): void => {};
    const hasWritten = new Promise<void>((resolve) => {
      written = resolve;
    });
    // Its number is smaller than those of the others, which commit before it.
    const holding = store.locked?.('late', async (within) => {
      const loaded = await mustLoad(within, 'late');
      await send(within, loaded, noteCommand(loaded, 'late'));
      written();
      await held;
    });
    await hasWritten;
    await note(store, 'early', 'one');
    await note(store, 'early', 'two');
    const waiting = await postgres.tail(project, start, 100);
    release();
    await holding;
    expect(waiting).toEqual({ rows: [], cursor: start });
    await note(store, 'early', 'three');
    const told: string[] = [];
    for (let cursor = start, pages = 0; pages < 20; pages += 1) {
      const page = await postgres.tail(project, cursor, 1);
      if (page.rows.length === 0) break;
      told.push(...page.rows.map((row) => `${row.run} ${row.seq}`));
      cursor = page.cursor;
    }
    expect(told).toEqual(['late 2', 'early 2', 'early 3', 'early 4']);
  });

  test('tells a batch as JSON without the key and what it was answered', async () => {
    const project = await database.project();
    const store = database.postgres.store(project);
    await begin(store, 'a-run');
    const { cursor } = await database.postgres.tail(project, undefined, 10);
    await note(store, 'a-run', 'said', { key: 'secret-key', reply: 'secret-reply' });
    const { rows } = await database.postgres.tail(project, cursor, 10);
    expect(rows).toHaveLength(1);
    expect(rows[0]?.batch).not.toContain('secret');
    expect(JSON.parse(rows[0]?.batch ?? '')).toMatchObject({
      v: 1,
      now: expect.any(Number),
      events: [{ text: 'said' }],
    });
  });

  test('a cursor that is from the future or no cursor begins anew, and a project hears of itself alone', async () => {
    const [mine, theirs] = [await database.project(), await database.project()];
    await begin(database.postgres.store(mine), 'mine');
    const { postgres } = database;
    const start = await postgres.tail(mine, undefined, 10);
    await begin(database.postgres.store(theirs), 'theirs');
    expect(await postgres.tail(mine, '99999999999999', 10)).toEqual({ ...start, reset: true });
    expect(await postgres.tail(mine, "1' or true", 10)).toEqual({ ...start, reset: true });
    expect(await postgres.tail(mine, start.cursor, 10)).toEqual({ rows: [], cursor: start.cursor });
    expect((await postgres.tail(mine, '0', 10)).rows.map((row) => row.run)).toEqual(['mine']);
  });

  test('a server hears what another one wrote', async () => {
    const project = await database.project();
    const store = database.postgres.store(project);
    await begin(store, 'watched');
    const other = createPostgres({ url: database.url, max: 2 });
    const heard = new Promise<void>((resolve) => {
      other.onWake((wake, projects) => {
        if (wake === 'runs' && projects?.has(project)) resolve();
      });
    });
    const watching = other.store(project).watch('watched', 1, 100_000);
    // Whoever listens late is told nothing of before.
    for (let tries = 0; tries < 600; tries += 1) {
      await note(store, 'watched', `${tries}`);
      const outcome = await Promise.race([
        heard.then(() => 'heard'),
        new Promise((resolve) => setTimeout(resolve, 100, 'not yet')),
      ]);
      if (outcome === 'heard') break;
    }
    await heard;
    await watching;
    await other.close();
    expect((await mustLoad(store, 'watched')).version.seq).toBeGreaterThan(1);
  });
});

describe('plans', () => {
  test('what is asked often reads a handful of rows, however many there are', async () => {
    const project = await database.project();
    const store = database.postgres.store(project);
    await begin(store, 'long-run');
    await note(store, 'long-run', 'one', { key: 'k', reply: 1 });
    const { version } = await mustLoad(store, 'long-run');
    const { cursor } = await database.postgres.tail(project, undefined, 10);
    const client = new pg.Client({ connectionString: database.cluster.url(database.name) });
    await client.connect();
    const columns = 'began, seq, hash, definition, status, live, created_ms, updated_ms, format, state';
    await client.query(
      `insert into stepfast.runs (project, run, ${columns})
        select project, 'r-' || i, ${columns.replace('live', 'false').replace('created_ms', 'created_ms - i')}
          from stepfast.runs, generate_series(1, 3000) i where project = ${project};
       insert into stepfast.events (project, run, began, seq, hash, body, reply, tx)
        select project, run, began, 10 + i, hash, body, reply, 1
          from stepfast.events, generate_series(1, 3000) i where project = ${project} and seq = 1;
       insert into stepfast.keys (project, run, key, seq)
        select project, run, gen_random_uuid(), i from stepfast.keys, generate_series(1, 3000) i
          where project = ${project};`,
    );
    await client.query(
      'set role stepfast_app; set plan_cache_mode = force_generic_plan; set enable_seqscan = off',
    );
    const rowsRead = async (call: string): Promise<number> => {
      await client.query('begin');
      await client.query(`select * from stepfast.${call}`);
      const { rows } = await client.query<{ read: number }>(
        `select sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::int as read from pg_stat_xact_user_tables
          where schemaname = 'stepfast'`,
      );
      await client.query('rollback');
      return rows[0]?.read ?? 0;
    };
    const { seq, hash } = version;
    const rest = `'h', 'b', '${randomUUID()}', null, 'running', true, 1, 1, '{}'`;
    for (const call of [
      `load_1(${project}, 'long-run', '${randomUUID()}')`,
      `append_1(${project}, 'long-run', ${seq + 1}, '${hash}', ${rest})`,
      `append_1(${project}, 'long-run', ${seq + 5}, 'other', ${rest})`,
      `ids_1(${project}, 'run', 'nur-', 'nur.')`,
      `page_1(${project}, true, 9e15::bigint, '', 3, 1000000)`,
      `page_1(${project}, null, 9e15::bigint, '', 3, 1000000)`,
      `tail_1(${project}, ${cursor}, 3, 1000000)`,
      `tail_1(${project}, null, 3, 1000000)`,
      `seqs_1(${project}, array['long-run', 'none'])`,
      `lock_1(${project}, 'long-run')`,
    ])
      expect(await rowsRead(call), call).toBeLessThan(20);
    await client.end();
  });
});

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
      const page = await postgres.page(project, { limit: 2, ...(after === undefined ? {} : { after }) });
      all.push(...page.runs.map((info) => info.run));
      await begin(store, `new-${pages}`, { age: -1000 });
      after = page.next;
      if (after === undefined) break;
    }
    expect(all).toEqual(['r-0', 'r-1', 'r-2', 'r-3', 'r-4', 'r-5', 'r-6']);
    const only = async (live: boolean) =>
      (await postgres.page(project, { live, limit: 100 })).runs.map((info) => info.run);
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
      await database.cluster.query(
        database.name,
        `update stepfast.${table} set ${column} = ${column} || repeat(' ', 6291456) where project = ${project}`,
      );
    const first = await postgres.page(project, { limit: 100 });
    expect(first.runs.map((info) => info.run)).toEqual(runs.slice(0, 3));
    const second = await postgres.page(project, { limit: 100, after: first.next ?? '' });
    expect(second.runs.map((info) => info.run)).toEqual(runs.slice(3));
    expect(second.next).toBeUndefined();
    expect(await store.list()).toHaveLength(5);
    const head = await postgres.tail(project, start, 100);
    expect(head.rows.map((row) => row.run)).toEqual(['r-0', 'r-1', 'r-2']);
    expect(head.more).toBe(true);
    const rest = await postgres.tail(project, head.cursor, 100);
    expect(rest.rows.map((row) => row.run)).toEqual(['r-3', 'r-4']);
    expect(rest.more).toBeUndefined();
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
    const rows = await database.cluster.query<{ name: string }>(
      database.name,
      `select inhrelid::regclass::text as name from pg_inherits
        where inhparent = 'stepfast.events'::regclass order by 1`,
    );
    return rows.map(({ name }) => name.replace('stepfast.', ''));
  };

  test('are made ahead, by as many servers as like', async () => {
    const coming = await months();
    expect(coming.length).toBeGreaterThanOrEqual(4);
    const last = coming.at(-1);
    await database.cluster.query(database.name, `drop table stepfast.${last}`);
    const made = await Promise.all(Array.from({ length: 6 }, () => database.postgres.makeMonths()));
    expect(made.filter((count) => count === 1)).toHaveLength(1);
    expect(await months()).toEqual(coming);
  });

  test('a run that begins in a month that nobody made makes it', async () => {
    const all = await months();
    const store = database.postgres.store(await database.project());
    const { name, url } = await emptyDatabase();
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
    const { name, url } = await emptyDatabase();
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
    const { name, url } = await emptyDatabase();
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
        if (Date.now() > until) throw new Error('nobody waits');
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
