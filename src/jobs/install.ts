import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { PgBoss } from 'pg-boss';
import { StepfastError } from '../errors.ts';
import { jobsSchema, queues } from './queues.ts';

/** Servers get only these rights on pg-boss's tables; the owner keeps the schema. */
const grants = `
  grant usage on schema ${jobsSchema} to stepfast_app;
  grant select, insert, update, delete on ${jobsSchema}.job, ${jobsSchema}.job_common to stepfast_app;
  grant select, update on ${jobsSchema}.queue, ${jobsSchema}.version to stepfast_app;
  grant select, delete on ${jobsSchema}.job_dependency to stepfast_app;
  revoke execute on all functions in schema ${jobsSchema} from public;
  grant execute on function ${jobsSchema}.job_now() to stepfast_app;
`;

const indexTimeoutMs = 10 * 60_000;

/**
 * Creates or migrates the job tables and queues, as the owner. Run it after the store's migrations, which create the
 * role. Idempotent, and safe to run concurrently.
 */
export async function installJobs({ url }: { url: string }): Promise<void> {
  const lock = new pg.Client({ connectionString: url, application_name: 'stepfast migrate' });
  await lock.connect();
  try {
    await lock.query('select pg_advisory_lock(hashtext($1))', [jobsSchema]);
    const boss = new PgBoss({
      connectionString: url,
      max: 2,
      schema: jobsSchema,
      migrate: true,
      schedule: false,
      supervise: false,
      bamIntervalSeconds: 10,
    });
    let failure: unknown;
    boss.on('error', (error) => {
      failure = error;
    });
    try {
      await boss.start();
      await updateQueues(boss);
      await waitForIndexes(boss, () => failure);
    } finally {
      await boss.stop({ graceful: false });
    }
    await lock.query(grants);
    await fixCursors(lock);
  } finally {
    await lock.end();
  }
}

async function updateQueues(boss: PgBoss): Promise<void> {
  const present = new Set((await boss.getQueues()).map(({ name }) => name));
  for (const { name, ...options } of queues) {
    if (present.has(name)) await boss.updateQueue(name, options);
    else await boss.createQueue(name, options);
  }
}

/** pg-boss builds indexes in the background after its migration. */
async function waitForIndexes(boss: PgBoss, failure: () => unknown): Promise<void> {
  const deadline = Date.now() + indexTimeoutMs;
  for (;;) {
    const entries = await boss.getBamEntries();
    if (entries.every(({ status }) => status === 'completed')) return;
    if (entries.some(({ status }) => status === 'failed') || Date.now() > deadline)
      throw new StepfastError(
        'migration_failed',
        'An index of the job tables was not built. Run again: stepfast migrate',
        { cause: failure() },
      );
    await sleep(500);
  }
}

/**
 * After a restore into another cluster, transaction ids start over. A cursor ahead of them moves to the latest event.
 */
async function fixCursors(client: pg.Client): Promise<void> {
  const projects = await client.query<{ id: number }>('select id from stepfast.projects');
  for (const { id } of projects.rows) {
    // Row-level security applies to the owner too.
    await client.query(`
      begin;
      set local stepfast.project = '${id}';
      update stepfast.dispatch set tx = (select coalesce(max(tx), 0) from stepfast.events where project = ${id})
        where project = ${id} and tx > pg_current_xact_id()::text::bigint;
      update stepfast.webhooks set since = 0
        where project = ${id} and since > pg_current_xact_id()::text::bigint;
      commit`);
  }
}
