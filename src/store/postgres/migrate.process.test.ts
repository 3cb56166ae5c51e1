import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDatabase, openDatabase, type TestDatabase, withPostgres } from '../../../test/kit/database.ts';
import { startCluster } from '../../../test/kit/postgres.ts';
import { begin, mustLoad, note, noteCommand, send } from '../../../test/kit/sample-run.ts';
import { createPostgres, createProjects, migrate } from './index.ts';
import { migrate as migrateTo } from './migrate.ts';
import { migrations } from './migrations/list.ts';

const run = promisify(execFile);

let database: TestDatabase;

beforeAll(async () => {
  database = await openDatabase();
});

afterAll(() => database[Symbol.asyncDispose]());

const useNumbers = (count: number): string =>
  `do $$ begin for i in 1..${count} loop perform pg_current_xact_id(); commit; end loop; end $$`;

describe('migrations', () => {
  test('several processes migrate at once, and each migration is applied by exactly one', async () => {
    const { name, url } = await createDatabase('template0');
    const entry = join(import.meta.dirname, './index.ts');
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
    const { name, url } = await createDatabase('template0');
    const broken = { id: 9000, name: 'broken', sql: 'create table stepfast.half (x int); select 1 / 0' };
    await expect(migrateTo(url, [...migrations, broken])).rejects.toMatchObject({ code: 'migration_failed' });
    const [half] = await database.cluster.query(name, `select to_regclass('stepfast.half') as found`);
    expect(half).toEqual({ found: null });
    const fixed = { ...broken, sql: 'create table stepfast.half (x int)' };
    expect(await migrateTo(url, [...migrations, fixed])).toMatchObject({ applied: ['broken'] });
  });

  test('a server refuses a database without the schema, an older one and one of a newer generation', async () => {
    const { name, url } = await createDatabase('template0');
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
    const login = `login_${database.name}`;
    await database.sql(`create role ${login} login in role stepfast_app noinherit`);
    const url = database.cluster.url(database.name, login);
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
    await database.sql(useNumbers(3000));
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
    // A late listener misses earlier notifications.
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
