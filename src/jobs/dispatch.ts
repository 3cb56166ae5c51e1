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
}

export interface Dispatched {
  /** Batches that were looked at. */
  batches: number;
  deliveries: number;
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

const batchesAtOnce = 200;

/**
 * Turns what happened into jobs. The cursor of a project moves in the transaction that enqueues them, under its
 * row lock: of many servers one does it, and whoever dies leaves nothing half done.
 */
export function createDispatcher({ database, boss, remindAfterMs }: DispatcherOptions) {
  return { dispatch };

  /** Everything that is there now. */
  async function dispatch(): Promise<Dispatched> {
    const total = { batches: 0, deliveries: 0 };
    const projects = await database.rows<{ project: number }>(
      'select project from stepfast.undispatched_1()',
    );
    for (const { project } of projects) {
      for (;;) {
        const { batches, deliveries } = await database.within(project, (tx) => dispatchSome(tx, project));
        total.batches += batches;
        total.deliveries += deliveries;
        if (batches < batchesAtOnce) break;
      }
    }
    return total;
  }

  async function dispatchSome(tx: Queries, project: number): Promise<Dispatched> {
    const nothing = { batches: 0, deliveries: 0 };
    const cursor = await lockCursor(tx, project);
    if (cursor === undefined) return nothing;
    const rows = await tx.rows<Row>(
      `select e.run, e.seq, e.tx::text, e.body from stepfast.events e
       where e.project = $1 and e.tx > $2::bigint
         and e.tx < pg_snapshot_xmin(pg_current_snapshot())::text::bigint
       order by e.tx fetch first ${batchesAtOnce} rows with ties`,
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

/** undefined: another server is at it. */
async function lockCursor(tx: Queries, project: number): Promise<string | undefined> {
  const [found] = await tx.rows<{ tx: string; future: boolean }>(
    `select tx::text, tx >= pg_snapshot_xmax(pg_current_snapshot())::text::bigint as future
     from stepfast.dispatch where project = $1 for update skip locked`,
    [project],
  );
  if (!found?.future) return found?.tx;
  // The database was restored into another cluster, whose transactions are counted anew.
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

/** The store wrote it. */
export const eventsOf = (body: string): Event[] => (JSON.parse(body) as { events: Event[] }).events;

/** With the caller's transaction; what is enqueued already stays as it is. */
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
