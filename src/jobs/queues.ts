import { createHash } from 'node:crypto';
import { PgBoss, type Queue } from 'pg-boss';
import type { Queries } from './database.ts';

export const jobsSchema = 'stepfast_jobs';

/** Jobs carry ids, never contents. */
export interface Delivery {
  project: number;
  webhook: string;
  run: string;
  seq: number;
  /** Absent when the delivery is about batch `seq` itself. */
  reminder?: Reminded;
}

/** Identifies a wait: of a position or an escalation that started at `since`, or of the whole run. */
export interface Reminded {
  of: 'position' | 'escalation' | 'run';
  since: number;
  /** Number of the reminder for this wait. */
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

/** In creation order: a dead-letter queue comes first. */
export const queues: readonly Queue[] = [
  { name: 'webhook-dead', retentionSeconds: 30 * day, deleteAfterSeconds: day },
  {
    name: 'webhook',
    deadLetter: 'webhook-dead',
    // Retries for about two days.
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

/** A version 8 UUID derived from the parts, so that enqueuing twice creates one job. */
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
  /** Milliseconds between checks for jobs of a dead server. Without it, there are no checks. */
  supervise?: number;
  report(error: unknown): void;
}

/** A pg-boss that never changes the schema; `stepfast migrate` does that. */
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
    // Both require ownership of the tables.
    reindex: false,
    monitorVacuum: false,
  });
  boss.on('error', report);
  return boss;
}
