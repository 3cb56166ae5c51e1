import type pg from 'pg';
import { StepfastError } from '../../errors.ts';
import { appRole } from './database.ts';
import { months } from './migrations/0003-months.ts';
import { migrations } from './migrations/list.ts';
import type { Migration } from './migrations/migration.ts';
import { asOwner } from './owner-connection.ts';
import { refuseTransactionPooler } from './pooler.ts';
import { isForbidden, isReadOnly, toStepfastError } from './postgres-errors.ts';

export interface MigrationResult {
  /** Names of the migrations applied by this call. */
  applied: string[];
  /** Whether transaction numbers were reset, because the database comes from another cluster. */
  renewed: boolean;
}

/** Increased by a migration that older servers cannot work with. */
export const generation = 1;
const lockKey = 7_837_365_201;
const patience = 120_000;

/** Creates or updates the schema as its owner. Safe to call from several processes at once. */
export async function migrate(
  url: string,
  known: readonly Migration[] = migrations,
): Promise<MigrationResult> {
  await refuseTransactionPooler(url);
  return asOwner(url, async (client) => {
    try {
      await client.query(`set lock_timeout = ${patience}; set statement_timeout = 0`);
      await client.query('select pg_advisory_lock($1)', [lockKey]);
      await prepareSchema(client);
      refuseNewer(await generationOf(client));
      const applied = await applyAll(client, known);
      const renewed = await resetTransactionNumbers(client);
      await applyGrants(client, known);
      if (known.includes(months)) await client.query('select stepfast.make_months_1(3)');
      return { applied, renewed };
    } catch (error) {
      if (error instanceof StepfastError) throw error;
      const why = error instanceof Error ? error.message : String(error);
      throw new StepfastError(
        'migration_failed',
        `the schema could not be migrated (${why}): earlier migrations stay applied; fix the cause and run it again`,
        { cause: error },
      );
    }
  });
}

/** Throws if servers of this version cannot work with the schema. `query` only needs to read. */
export async function requireSchema(
  query: (sql: string) => Promise<readonly Record<string, unknown>[]>,
  known: readonly Migration[] = migrations,
): Promise<void> {
  try {
    const [role] = await query(
      'select current_user::text as name, rolsuper or rolbypassrls as free from pg_roles where rolname = current_user',
    );
    if (role?.name !== appRole || role.free === true)
      throw new StepfastError(
        'schema_unsafe',
        `connections use the role ${role?.name} instead of ${appRole}, so projects would not be isolated: connect without a pooler that drops \`set role\``,
      );
    const [meta] = await query('select generation, cluster from stepfast.meta');
    refuseNewer(Number(meta?.generation));
    const applied = new Set((await query('select id from stepfast.migrations')).map(({ id }) => Number(id)));
    const lacking = known.filter(({ id }) => !applied.has(id)).map(({ name }) => name);
    if (lacking.length > 0)
      throw new StepfastError(
        'schema_old',
        `the database lacks ${lacking.join(', ')}: run \`stepfast migrate\` first`,
      );
    const [{ cluster } = {}] = await query(clusterQuery);
    if (cluster !== meta?.cluster)
      throw new StepfastError(
        'schema_restored',
        'the database was restored into another PostgreSQL: run `stepfast migrate` first',
      );
  } catch (error) {
    if (isReadOnly(error))
      throw new StepfastError(
        'schema_read_only',
        'the database is read-only: it is a standby, or its disk is full; servers continue when it accepts writes',
        { cause: error },
      );
    throw toStepfastError('the schema', error);
  }
}

const clusterQuery = 'select system_identifier::text as cluster from pg_control_system()';

async function prepareSchema(client: pg.Client): Promise<void> {
  await prepareRole(client);
  await client.query(`
    create schema if not exists stepfast;
    create table if not exists stepfast.migrations (
      id int primary key, name text not null, applied_at timestamptz not null default now()
    );
    create table if not exists stepfast.meta (
      one boolean primary key default true check (one), generation int not null, cluster text not null
    );`);
  await client.query(
    `insert into stepfast.meta (generation, cluster) ${clusterQuery.replace('select', `select ${generation},`)}
      on conflict do nothing`,
  );
}

/**
 * Since PostgreSQL 16 an owner without superuser rights becomes an administrator of the roles that it creates. That counts
 * as membership but does not allow `set role`, which needs a separate grant.
 */
async function prepareRole(client: pg.Client): Promise<void> {
  try {
    // Roles belong to the whole cluster: the migration of another database may create this one concurrently.
    await client.query(`
      do $$ begin
        if not exists (select from pg_roles where rolname = '${appRole}') then create role ${appRole} nologin; end if;
      exception when duplicate_object or unique_violation then null;
      end $$;
      do $$
      declare may text := case when current_setting('server_version_num')::int >= 160000 then 'set' else 'member' end;
      begin
        if not pg_has_role(current_user, '${appRole}', may) then
          execute format('grant ${appRole} to %I', current_user);
        end if;
      end $$;`);
  } catch (cause) {
    if (!isForbidden(cause)) throw cause;
    const { rows } = await client.query<{ me: string }>('select quote_ident(current_user) as me');
    throw new StepfastError(
      'migration_failed',
      `${rows[0]?.me} may not create the role ${appRole} or grant it to itself: ask a database administrator to run \`create role ${appRole} nologin\` if the role is missing, and \`grant ${appRole} to ${rows[0]?.me}\``,
      { cause },
    );
  }
}

async function generationOf(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ generation: number }>('select generation from stepfast.meta');
  return Number(rows[0]?.generation);
}

function refuseNewer(found: number): void {
  if (found <= generation) return;
  throw new StepfastError(
    'schema_newer',
    `the database was migrated by a newer Stepfast (generation ${found}, supported: ${generation}): update Stepfast`,
  );
}

async function applyAll(client: pg.Client, known: readonly Migration[]): Promise<string[]> {
  const { rows } = await client.query<{ id: number }>('select id from stepfast.migrations');
  const done = new Set(rows.map(({ id }) => id));
  const applied: string[] = [];
  for (const { id, name, sql, grants = '' } of known) {
    if (done.has(id)) continue;
    await inTransaction(client, async () => {
      await client.query(`${sql};\n${grants}`);
      await client.query('insert into stepfast.migrations (id, name) values ($1, $2)', [id, name]);
    });
    applied.push(name);
  }
  return applied;
}

/**
 * Stream cursors are transaction numbers, which another cluster counts from its own start. Batches with numbers that it
 * has not reached yet would be streamed again later, so all existing batches get the number 0.
 */
async function resetTransactionNumbers(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ other: boolean }>(
    `select m.cluster <> c.cluster as other from stepfast.meta m, (${clusterQuery}) c`,
  );
  if (rows[0]?.other !== true) return false;
  return inTransaction(client, async () => {
    await client.query('lock table stepfast.events in access exclusive mode');
    const ahead = await hasFutureTransactions(client);
    if (ahead)
      await client.query(`
        alter table stepfast.events drop column tx;
        alter table stepfast.events add column tx bigint not null default 0;
        alter table stepfast.events alter column tx set default pg_current_xact_id()::text::bigint;
        create index events_by_tx on stepfast.events (project, tx);`);
    await client.query(`update stepfast.meta set cluster = (${clusterQuery})`);
    return ahead;
  });
}

/** Row level security applies to the owner too, so it queries one project after another. */
async function hasFutureTransactions(client: pg.Client): Promise<boolean> {
  const projects = await client.query<{ id: number }>('select id from stepfast.projects');
  for (const { id } of projects.rows) {
    await client.query(`select set_config('stepfast.project', $1, true)`, [String(id)]);
    const { rows } = await client.query<{ ahead: boolean | null }>(
      'select max(tx) >= pg_current_xact_id()::text::bigint as ahead from stepfast.events where project = $1',
      [id],
    );
    if (rows[0]?.ahead === true) return true;
  }
  return false;
}

async function applyGrants(client: pg.Client, known: readonly Migration[]): Promise<void> {
  const { rows } = await client.query<{ given: boolean }>(
    `select has_schema_privilege('${appRole}', 'stepfast', 'usage') as given`,
  );
  if (rows[0]?.given === true) return;
  await inTransaction(client, () => client.query(known.map(({ grants = '' }) => grants).join('\n')));
}

async function inTransaction<T>(client: pg.Client, action: () => Promise<T>): Promise<T> {
  await client.query('begin');
  try {
    const result = await action();
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback').catch(() => {});
    throw error;
  }
}
