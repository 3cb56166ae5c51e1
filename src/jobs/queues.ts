import { createHash } from 'node:crypto';
import { PgBoss, type Queue } from 'pg-boss';
import type { Queries } from './database.ts';

export const jobsSchema = 'stepfast_jobs';

/** What jobs carry: ids, never contents. */
export interface Delivery {
  project: number;
  webhook: string;
  run: string;
  seq: number;
  /** Absent where the batch `seq` itself is told. */
  reminder?: Reminded;
}

/** Which wait is meant: the one that began with a position at `since`, was escalated then, or holds the whole run. */
export interface Reminded {
  of: 'position' | 'escalation' | 'run';
  since: number;
  /** Counts the reminders of one wait. */
  count: number;
}

export interface Reminder extends Reminded {
  project: number;
  run: string;
  seq: number;
}

export interface Sweep {
  sweep: string;
}

const day = 24 * 3600;

/** In the order of their making: a dead letter queue first. */
export const queues: readonly Queue[] = [
  { name: 'webhook-dead', retentionSeconds: 30 * day, deleteAfterSeconds: day },
  {
    name: 'webhook',
    deadLetter: 'webhook-dead',
    // About two days from the first attempt to the last.
    retryLimit: 14,
    retryDelay: 10,
    retryBackoff: true,
    retryDelayMax: day / 2,
    expireInSeconds: 30,
    retentionSeconds: 14 * day,
    deleteAfterSeconds: day,
  },
  {
    name: 'reminder',
    retryLimit: 10,
    retryDelay: 30,
    retryBackoff: true,
    retryDelayMax: 3600,
    expireInSeconds: 60,
    retentionSeconds: 30 * day,
    deleteAfterSeconds: day,
  },
  { name: 'sweep', retryLimit: 3, retryDelay: 60, expireInSeconds: 1800, deleteAfterSeconds: 3 * day },
];

/** The same parts give the same id, so that what is enqueued twice is there once. A UUID of version 8. */
export function idOf(...parts: readonly (string | number)[]): string {
  const bytes = createHash('sha256').update(JSON.stringify(parts)).digest().subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x80, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

export function deliveryId({ project, webhook, run, seq, reminder }: Delivery): string {
  if (!reminder) return idOf('delivery', project, webhook, run, seq);
  return idOf('reminder', project, webhook, run, reminder.of, reminder.since, reminder.count);
}

export interface BossOptions {
  /** How often it is looked for what a dead server left, in milliseconds; never where it is absent. */
  supervise?: number;
  report(error: unknown): void;
}

/** A pg-boss that makes and changes no schema: that is `stepfast migrate`'s. */
export function createBoss({ boss: db }: Queries, options: BossOptions): PgBoss {
  const { supervise, report } = options;
  const seconds = Math.max(1, (supervise ?? 0) / 1000);
  const boss = new PgBoss({
    db,
    schema: jobsSchema,
    migrate: false,
    schedule: false,
    supervise: supervise !== undefined,
    superviseIntervalSeconds: seconds,
    monitorIntervalSeconds: seconds,
    // Both need the owner's rights.
    reindex: false,
    monitorVacuum: false,
  });
  boss.on('error', report);
  return boss;
}
