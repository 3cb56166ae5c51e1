import type { PgBoss } from 'pg-boss';
import type { Event } from '../machine/index.ts';
import type { Database, Queries } from './database.ts';
import { type Delivery, deliveryId, idOf, type Reminder } from './queues.ts';
import { waitsBegun } from './waits.ts';
import { wanted } from './webhooks/filter.ts';

interface DispatcherOptions {
  database: Database;
  boss: PgBoss;
  remindAfterMs: number;
  /** Receives the error of a failed project; other projects continue. */
  report(error: unknown): void;
}

interface DispatchCount {
  /** Batches processed. */
  batches: number;
  deliveries: number;
}

export interface Dispatched extends DispatchCount {
  /** Some project has more batches. */
  more: boolean;
}

interface Row {
  run: string;
  seq: number;
  tx: string;
  body: string;
}

interface Target {
  id: string;
  events: string[];
  since: string;
}

const batchSize = 200;
/** Per project, before the next project's turn. */
const maxRounds = 10;

/**
 * Turns committed batches into jobs. A project's cursor advances in the transaction that enqueues the jobs, under a row
 * lock: only one server dispatches a project at a time, and a crash leaves nothing half done.
 */
export function createDispatcher({ database, boss, remindAfterMs, report }: DispatcherOptions) {
  return { dispatch };

  /** Dispatches a share of every pending project. A failing project does not stop the others. */
  async function dispatch(): Promise<Dispatched> {
    const total = { batches: 0, deliveries: 0, more: false };
    const projects = await database.rows<{ project: number }>(
      'select project from stepfast.undispatched_1()',
    );
    for (const { project } of projects)
      try {
        const more = await dispatchProject(project, total);
        total.more ||= more;
      } catch (error) {
        report(error);
      }
    return total;
  }

  /** Returns whether the project has more batches. */
  async function dispatchProject(project: number, total: DispatchCount): Promise<boolean> {
    for (let round = 0; round < maxRounds; round += 1) {
      const { batches, deliveries } = await database.within(project, (tx) => dispatchBatches(tx, project));
      total.batches += batches;
      total.deliveries += deliveries;
      if (batches < batchSize) return false;
    }
    return true;
  }

  async function dispatchBatches(tx: Queries, project: number): Promise<DispatchCount> {
    const nothing = { batches: 0, deliveries: 0 };
    const cursor = await lockCursor(tx, project);
    if (cursor === undefined) return nothing;
    const rows = await tx.rows<Row>(
      `select e.run, e.seq, e.tx::text, e.body from stepfast.events e
       where e.project = $1 and e.tx > $2::bigint
         and e.tx < (select stop from stepfast.tail_end_1())
       order by e.tx fetch first ${batchSize} rows with ties`,
      [project, cursor],
    );
    const last = rows.at(-1);
    if (!last) return nothing;
    const targets = await tx.rows<Target>(
      'select id, events, since::text from stepfast.webhooks where project = $1 and disabled_at is null',
      [project],
    );
    const deliveries = rows.flatMap((row) => deliveriesOf(project, row, targets));
    await enqueueDeliveries(boss, tx, deliveries);
    const reminders = targets.length > 0 ? rows.flatMap((row) => remindersOf(project, row)) : [];
    await enqueueReminders(boss, tx, reminders, remindAfterMs);
    await tx.rows('update stepfast.dispatch set tx = $2::bigint where project = $1', [project, last.tx]);
    return { batches: rows.length, deliveries: deliveries.length };
  }
}

/** Returns undefined if another server holds the lock. */
async function lockCursor(tx: Queries, project: number): Promise<string | undefined> {
  const [found] = await tx.rows<{ tx: string; future: boolean }>(
    `select tx::text, tx >= pg_snapshot_xmax(pg_current_snapshot())::text::bigint as future
     from stepfast.dispatch where project = $1 for update skip locked`,
    [project],
  );
  if (!found?.future) return found?.tx;
  // The database was restored into another cluster, where transaction ids start over.
  await tx.rows('update stepfast.webhooks set since = 0 where project = $1', [project]);
  return '0';
}

function deliveriesOf(project: number, { run, seq, tx, body }: Row, targets: readonly Target[]): Delivery[] {
  const types = eventsOf(body).map(({ type }) => type);
  return targets
    .filter(({ since, events }) => BigInt(tx) > BigInt(since) && wanted(events, types).length > 0)
    .map(({ id: webhook }) => ({ project, webhook, run, seq }));
}

const remindersOf = (project: number, { run, seq, body }: Row): Reminder[] =>
  waitsBegun(eventsOf(body)).map((wait) => ({ project, run, seq, ...wait, count: 1 }));

/** Written by the store, so no validation. */
export const eventsOf = (body: string): Event[] => (JSON.parse(body) as { events: Event[] }).events;

/** Uses the caller's transaction. Jobs that are already enqueued stay unchanged. */
export async function enqueueDeliveries(
  boss: PgBoss,
  tx: Queries,
  deliveries: readonly Delivery[],
): Promise<void> {
  if (deliveries.length === 0) return;
  const jobs = deliveries.map((data) => ({ id: deliveryId(data), data, group: { id: data.webhook } }));
  await boss.insert('webhook', jobs, { db: tx.boss });
}

export async function enqueueReminders(
  boss: PgBoss,
  tx: Queries,
  reminders: readonly Reminder[],
  afterMs: number,
): Promise<void> {
  if (reminders.length === 0) return;
  const jobs = reminders.map((data) => ({
    id: idOf('remind', data.project, data.run, data.of, data.since, data.count),
    data,
    startAfter: Math.ceil(afterMs / 1000),
  }));
  await boss.insert('reminder', jobs, { db: tx.boss });
}
