import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { PgBoss } from 'pg-boss';
import { StepfastError } from '../errors.ts';
import { jobsSchema, queues } from './queues.ts';

/** What servers do with pg-boss's tables; the schema itself is the owner's. */
const grants = `
  grant usage on schema ${jobsSchema} to stepfast_app;
  grant select, insert, update, delete on ${jobsSchema}.job, ${jobsSchema}.job_common to stepfast_app;
  grant select, update on ${jobsSchema}.queue, ${jobsSchema}.version to stepfast_app;
  grant select, delete on ${jobsSchema}.job_dependency to stepfast_app;
  revoke execute on all functions in schema ${jobsSchema} from public;
  grant execute on function ${jobsSchema}.job_now() to stepfast_app;
`;

const patienceMs = 10 * 60_000;

/**
 * Makes or renews the job tables and queues, as the owner; after the store's own migrations, which make the role
 * that it grants to. Safe to run again and from several places at once.
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
      await renewQueues(boss);
      await indexesBuilt(boss, () => failure);
    } finally {
      await boss.stop({ graceful: false });
    }
    await lock.query(grants);
    await renewCursors(lock);
  } finally {
    await lock.end();
  }
}

async function renewQueues(boss: PgBoss): Promise<void> {
  const present = new Set((await boss.getQueues()).map(({ name }) => name));
  for (const { name, ...options } of queues) {
    if (present.has(name)) await boss.updateQueue(name, options);
    else await boss.createQueue(name, options);
  }
}

/** A newer pg-boss builds indexes after its migration, one by one, while servers go on. */
async function indexesBuilt(boss: PgBoss, failure: () => unknown): Promise<void> {
  const deadline = Date.now() + patienceMs;
  for (;;) {
    const entries = await boss.getBamEntries();
    if (entries.every(({ status }) => status === 'completed')) return;
    if (entries.some(({ status }) => status === 'failed') || Date.now() > deadline)
      throw new StepfastError(
        'migration_failed',
        'An index of the job tables was not built. Run stepfast migrate again.',
        { cause: failure() },
      );
    await sleep(500);
  }
}

/**
 * In another cluster transactions have other numbers. A cursor that lies ahead of them is past all that came along,
 * so it goes on after that.
 */
async function renewCursors(client: pg.Client): Promise<void> {
  const projects = await client.query<{ id: number }>('select id from stepfast.projects');
  for (const { id } of projects.rows) {
    // Row security binds the owner too.
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
