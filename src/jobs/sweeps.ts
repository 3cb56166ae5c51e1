import type { PgBoss } from 'pg-boss';
import type { Definition } from '../machine/index.ts';
import type { Database } from './database.ts';
import type { Outcome } from './pump.ts';
import type { Sweep } from './queues.ts';

interface SweepOptions {
  database: Database;
  boss: PgBoss;
  /** Months to keep ended runs. Without it, they are kept forever. */
  retentionMonths: number | undefined;
  clock(): number;
  onSwept(sweep: string, count: number): void;
}

const hour = 3600;
const day = 24 * hour;

/** Runs removed per transaction. */
const batchSize = 100;
/** Per project, before the next project's turn. */
const maxRounds = 10;
const maxTurns = 100;
const monthsAhead = 3;
const maxMonths = 240;
/** For SQL functions that iterate over the projects themselves. */
const noProject = 0;

/** Cleanup jobs. Correctness never depends on when they run. */
export function createSweeps({ database, boss, retentionMonths, clock, onSwept }: SweepOptions) {
  const sweeps: Record<string, { everySeconds: number; run(): Promise<number> }> = {
    runs: { everySeconds: hour, run: removeRuns },
    tokens: { everySeconds: day, run: deleteOldTokens },
    months: { everySeconds: day, run: rotateMonths },
  };
  return { schedule, sweep };

  /** Enqueues each sweep at most once per time slot. Idempotent. */
  async function schedule(): Promise<void> {
    for (const [sweep, { everySeconds }] of Object.entries(sweeps))
      await boss.send('sweep', { sweep }, { singletonKey: sweep, singletonSeconds: everySeconds });
  }

  async function sweep({ sweep: name }: Sweep): Promise<Outcome> {
    const found = Object.hasOwn(sweeps, name) ? sweeps[name] : undefined;
    // Enqueued by a newer server.
    if (!found) return 'done';
    const count = await found.run();
    if (count > 0) onSwept(name, count);
    return 'done';
  }

  /** Removes runs that ended over an hour ago and have `keep: false`. Errors are thrown after all projects are done. */
  async function removeRuns(): Promise<number> {
    let count = 0;
    const failures: unknown[] = [];
    const before = clock() - hour * 1000;
    let left = await projects();
    for (let turn = 0; turn < maxTurns && left.length > 0; turn += 1) {
      const more: number[] = [];
      for (const project of left)
        try {
          const removed = await removeProjectRuns(project, before);
          count += removed;
          if (removed === maxRounds * batchSize) more.push(project);
        } catch (error) {
          failures.push(error);
        }
      left = more;
    }
    if (failures.length > 0) throw failures[0];
    return count;
  }

  async function removeProjectRuns(project: number, before: number): Promise<number> {
    const hashes = await unkeptDefinitions(project);
    let count = 0;
    for (let round = 0; round < maxRounds && hashes.length > 0; round += 1) {
      const removed = await database.within(project, (tx) =>
        tx.rows(
          `select stepfast.remove_1($1, ended.run) from (
             select run from stepfast.runs
             where project = $1 and definition = any($2) and not live and updated_ms < $3
             limit ${batchSize} for update skip locked
           ) ended`,
          [project, hashes, before],
        ),
      );
      count += removed.length;
      if (removed.length < batchSize) break;
    }
    return count;
  }

  async function unkeptDefinitions(project: number): Promise<string[]> {
    const rows = await database.within(project, (tx) =>
      tx.rows<{ hash: string; body: string }>(
        `select hash, body from stepfast.definitions where project = $1 and body ~ '"keep"\\s*:\\s*false'`,
        [project],
      ),
    );
    // Written by the store.
    return rows.filter(({ body }) => (JSON.parse(body) as Definition).keep === false).map(({ hash }) => hash);
  }

  async function deleteOldTokens(): Promise<number> {
    const [done] = await database.rows<{ count: number }>(
      `select stepfast.forget_tokens_1(now() - interval '30 days') as count`,
    );
    return done?.count ?? 0;
  }

  /** Deletes in pages: a month has one key per call. */
  async function deleteOldKeys(months: number): Promise<void> {
    for (let after: string | null = ''; after !== null; ) {
      const [done]: { next: string | null }[] = await database.within(noProject, (tx) =>
        tx.rows('select stepfast.forget_keys_1($1, $2) as next', [months, after]),
      );
      after = done?.next ?? null;
    }
  }

  async function rotateMonths(): Promise<number> {
    await database.rows('select stepfast.make_months_1($1)', [monthsAhead]);
    if (retentionMonths === undefined) return 0;
    await deleteOldKeys(retentionMonths);
    for (let count = 0; count < maxMonths; count += 1) {
      const [done] = await database.within(noProject, async (tx) => {
        await tx.rows(`set local statement_timeout = '1h'`);
        return tx.rows<{ month: string | null }>('select stepfast.forget_month_1($1)::text as month', [
          retentionMonths,
        ]);
      });
      if (!done?.month) return count;
    }
    return maxMonths;
  }

  async function projects(): Promise<number[]> {
    const rows = await database.rows<{ id: number }>('select id from stepfast.project_ids_1() id');
    return rows.map(({ id }) => id);
  }
}
