import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openDatabase, type TestDatabase } from '../../../test/kit/database.ts';
import { begin, note } from '../../../test/kit/sample-run.ts';
import { hashToken } from '../../token-format.ts';
import { createTokens } from './index.ts';

let database: TestDatabase;
let mine: number;
let theirs: number;
let app: pg.Client;
let owner: pg.Client;
let tokenOfTheirs: string;

beforeAll(async () => {
  database = await openDatabase();
  mine = await database.project();
  theirs = await database.project();
  for (const project of [mine, theirs]) {
    const store = database.postgres.store(project);
    await begin(store, 'shared-name');
    await note(store, 'shared-name', `of ${project}`, { key: 'k', reply: project });
    await store.keep('shared-name', `text of ${project}`);
    const tokens = createTokens(database.url);
    const { token } = await tokens.create(project, { kind: 'agent', name: 'a', scopes: ['read'] });
    tokenOfTheirs = token;
  }
  app = await connect('set role stepfast_app');
  owner = await connect('');
});
afterAll(async () => {
  await app.end();
  await owner.end();
  await database[Symbol.asyncDispose]();
});

async function connect(setup: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query(setup);
  return client;
}

/** Tables of the schema with a column `project`, partitions too: a new one is covered. */
async function tablesWithProject(): Promise<string[]> {
  const { rows } = await owner.query<{ name: string }>(
    `select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid
      where c.relnamespace = 'stepfast'::regnamespace and c.relkind in ('r', 'p')
        and a.attname = 'project' and not a.attisdropped order by 1`,
  );
  return rows.map(({ name }) => name);
}

async function asProject<T>(client: pg.Client, project: number | '', action: () => Promise<T>): Promise<T> {
  await client.query('begin');
  try {
    await client.query(`select set_config('stepfast.project', $1, true)`, [String(project)]);
    return await action();
  } finally {
    await client.query('rollback');
  }
}

describe('row security', () => {
  test('every table with a project has it enabled, forced, with the policy for reading and writing', async () => {
    const tables = await tablesWithProject();
    expect(tables).toEqual(
      expect.arrayContaining(['definitions', 'events', 'keys', 'runs', 'texts', 'tokens']),
    );
    expect(tables.filter((name) => /^events_\d{4}_\d{2}$/.test(name)).length).toBeGreaterThanOrEqual(4);
    const { rows } = await owner.query(
      `select c.relname as name, c.relrowsecurity and c.relforcerowsecurity as forced,
          pg_get_expr(p.polqual, p.polrelid) as reading, pg_get_expr(p.polwithcheck, p.polrelid) as writing,
          p.polcmd as command, p.polpermissive as permissive
        from pg_class c left join pg_policy p on p.polrelid = c.oid and p.polname = 'project'
        where c.oid = any($1::regclass[])`,
      [tables.map((name) => `stepfast.${name}`)],
    );
    const rule = `(project = (NULLIF(current_setting('stepfast.project'::text, true), ''::text))::integer)`;
    const policy = { reading: rule, writing: rule, command: '*', permissive: true };
    expect(rows.sort((a, b) => (a.name < b.name ? -1 : 1))).toEqual(
      tables.map((name) => ({ name, forced: true, ...policy })),
    );
  });

  test('the only other policy shows a token to a caller that has its hash', async () => {
    const { rows } = await owner.query(
      `select polrelid::regclass::text as name, polname, polcmd, pg_get_expr(polqual, polrelid) as reading
        from pg_policy p join pg_class c on c.oid = p.polrelid
        where c.relnamespace = 'stepfast'::regnamespace and polname <> 'project'`,
    );
    expect(rows).toEqual([
      {
        name: 'stepfast.tokens',
        polname: 'presented',
        polcmd: 'r',
        reading: `(hash = NULLIF(current_setting('stepfast.token'::text, true), ''::text))`,
      },
    ]);
  });

  test('the role of servers owns nothing, is no member of anything, cannot log in and cannot step round', async () => {
    const { rows } = await owner.query(
      `select rolsuper, rolbypassrls, rolcreaterole, rolcreatedb, rolcanlogin, rolreplication,
          (select count(*)::int from pg_shdepend where refobjid = r.oid and deptype = 'o') as owns,
          (select count(*)::int from pg_auth_members where member = r.oid) as member
        from pg_roles r where rolname = 'stepfast_app'`,
    );
    expect(rows).toEqual([
      {
        rolsuper: false,
        rolbypassrls: false,
        rolcreaterole: false,
        rolcreatedb: false,
        rolcanlogin: false,
        rolreplication: false,
        owns: 0,
        member: 0,
      },
    ]);
    for (const sql of [
      'set row_security = off; select * from stepfast.runs',
      'alter table stepfast.runs no force row level security',
      'drop policy project on stepfast.runs',
      'create table stepfast.mine (x int)',
      'truncate stepfast.runs',
      'update stepfast.events set body = body',
      'update stepfast.definitions set body = body',
      'select * from stepfast.tokens',
      'select * from stepfast.projects',
      `select stepfast.drop_month_1('2020-01-01', now())`,
    ])
      await expect(app.query(sql), sql).rejects.toMatchObject({ code: '42501' });
    await app.query('reset row_security');
  });

  test('no role sees a row of another project, whatever the query asks, or any row without a project', async () => {
    for (const [who, client] of Object.entries({ app, owner })) {
      for (const table of await tablesWithProject()) {
        if (who === 'app' && !(await mayRead(table))) continue;
        const seen = async (project: number | ''): Promise<number[]> =>
          asProject(client, project, async () => {
            const { rows } = await client.query<{ project: number }>(
              `select distinct project from stepfast.${table} where project = ${theirs} or true`,
            );
            return rows.map((row) => row.project);
          });
        expect(await seen(''), `${who} ${table}`).toEqual([]);
        expect((await seen(mine)).filter((project) => project !== mine)).toEqual([]);
      }
      const runs = await asProject(client, mine, () => client.query('select project from stepfast.runs'));
      expect(runs.rows).toEqual([{ project: mine }]);
    }
  });

  test('a partition cannot be read past its parent', async () => {
    const partitions = (await tablesWithProject()).filter((name) => name.startsWith('events_'));
    for (const name of partitions) expect(await mayRead(name)).toBe(false);
  });

  test('nothing is written for, moved to or deleted from another project', async () => {
    await asProject(app, mine, async () => {
      for (const table of ['runs', 'events', 'keys', 'texts']) {
        await app.query('savepoint s');
        const deleted = await app.query(`delete from stepfast.${table} where project = ${theirs}`);
        expect(deleted.rowCount).toBe(0);
        const moving =
          table === 'runs'
            ? `update stepfast.runs set project = ${theirs}`
            : `insert into stepfast.${table} select (jsonb_populate_record(t, '{"project": ${theirs}}')).* from stepfast.${table} t`;
        await expect(app.query(moving)).rejects.toMatchObject({ code: '42501' });
        await app.query('rollback to s');
      }
    });
  });

  test('each call works on the project that it names and leaves no project behind', async () => {
    const { rows } = await app.query(
      `select state::json->'variables'->>'said' as said from stepfast.load_1($1, 'shared-name', null)`,
      [theirs],
    );
    expect(rows).toEqual([{ said: `of ${theirs}` }]);
    const after = await app.query('select count(*)::int as seen from stepfast.runs');
    expect(after.rows).toEqual([{ seen: 0 }]);
  });
});

describe('functions', () => {
  test('every one has its search path pinned, and only the known few work with the rights of the owner', async () => {
    const { rows } = await owner.query<{ name: string; owned: boolean; pinned: boolean; open: boolean }>(
      `select proname as name, prosecdef as owned,
          coalesce((case when prosecdef then 'search_path=pg_catalog, pg_temp' else 'search_path=pg_catalog' end)
            = any(proconfig), false) as pinned,
          proacl is null or exists (select from aclexplode(proacl) where grantee = 0) as open
        from pg_proc where pronamespace = 'stepfast'::regnamespace`,
    );
    expect(rows.filter(({ pinned }) => !pinned)).toEqual([]);
    expect(rows.filter(({ open }) => open)).toEqual([]);
    expect(
      rows
        .filter(({ owned }) => owned)
        .map(({ name }) => name)
        .sort(),
    ).toEqual(
      expect.arrayContaining([
        'drop_month_1',
        'find_token_1',
        'make_months_1',
        'project_ids_1',
        'project_named_1',
      ]),
    );
  });

  test('objects of a hostile search path are not taken for ours', async () => {
    await owner.query(`create schema hostile; grant usage on schema hostile to stepfast_app;
      create function hostile.set_config(text, text, boolean) returns text language sql
        as $$ select pg_catalog.set_config('stepfast.project', '${theirs}', true) $$`);
    const client = await connect('set role stepfast_app; set search_path = hostile, pg_catalog');
    const { rows } = await client.query(
      `select state::json->'variables'->>'said' as said from stepfast.load_1($1, 'shared-name', null)`,
      [mine],
    );
    expect(rows).toEqual([{ said: `of ${mine}` }]);
    await client.end();
  });

  test('a token is found by its hash alone, and by nothing like it', async () => {
    const { postgres } = database;
    const found = await postgres.findToken(hashToken(tokenOfTheirs));
    expect(found).toMatchObject({ kind: 'agent', name: 'a', scopes: ['read'], project: { id: theirs } });
    expect(tokenOfTheirs).toMatch(/^sf_[0-9a-f]{16}_[A-Za-z0-9_-]{49}$/);
    for (const wrong of [
      '',
      '%',
      "' or true --",
      tokenOfTheirs,
      hashToken('x'),
      hashToken(tokenOfTheirs).toUpperCase(),
    ])
      expect(await postgres.findToken(wrong)).toBeUndefined();
    const { rows } = await owner.query(`select * from stepfast.tokens`);
    expect(rows).toEqual([]);
  });

  test('a revoked token is not found, and only its own project can revoke it', async () => {
    const tokens = createTokens(database.url);
    const { id, token } = await tokens.create(mine, {
      kind: 'person',
      name: 'ann',
      scopes: ['read', 'decide'],
      expiresAt: 4_102_444_800_000,
    });
    expect(await database.postgres.findToken(hashToken(token))).toMatchObject({
      expiresAt: 4_102_444_800_000,
    });
    expect(await tokens.revoke(theirs, id)).toBe(false);
    expect(await database.postgres.findToken(hashToken(token))).toMatchObject({ name: 'ann' });
    expect(await tokens.revoke(mine, id)).toBe(true);
    expect(await tokens.revoke(mine, id)).toBe(false);
    expect(await database.postgres.findToken(hashToken(token))).toBeUndefined();
    const listed = (await tokens.list(mine)).find((each) => each.id === id);
    expect(listed).toMatchObject({ name: 'ann', revokedAt: expect.any(Number) });
    expect(JSON.stringify(await tokens.list(mine))).not.toContain(hashToken(token));
  });
});

async function mayRead(table: string): Promise<boolean> {
  const { rows } = await owner.query<{ may: boolean }>(
    `select has_table_privilege('stepfast_app', 'stepfast.${table}', 'select') as may`,
  );
  return rows[0]?.may === true;
}
