import type { PgBoss } from 'pg-boss';
import type { Definition } from '../machine/index.ts';
import type { Database } from './database.ts';
import type { Outcome } from './pump.ts';
import type { Sweep } from './queues.ts';

interface SweepOptions {
  database: Database;
  boss: PgBoss;
  /** Months without a live run are dropped after so many; never where it is absent. */
  retentionMonths?: number;
  clock(): number;
  told(sweep: string, count: number): void;
}

const hour = 3600;
const day = 24 * hour;

/** How many runs are removed in one transaction. */
const runsAtOnce = 100;
/** Of one project, before the next one's turn. */
const mostRounds = 10;
const mostTurns = 100;
const monthsAhead = 3;
const maxMonths = 240;
/** The function goes through them itself. */
const noProject = 0;

/** What tidies up. Nothing depends on when, or how often, it is done. */
export function createSweeps({ database, boss, retentionMonths, clock, told }: SweepOptions) {
  const sweeps: Record<string, { everySeconds: number; run(): Promise<number> }> = {
    runs: { everySeconds: hour, run: removeRuns },
    tokens: { everySeconds: day, run: forgetTokens },
    months: { everySeconds: day, run: turnMonths },
  };
  return { schedule, sweep };

  /** One job for each sweep and time slot, whoever asks and however often. */
  async function schedule(): Promise<void> {
    for (const [sweep, { everySeconds }] of Object.entries(sweeps))
      await boss.send('sweep', { sweep }, { singletonKey: sweep, singletonSeconds: everySeconds });
  }

  async function sweep({ sweep: name }: Sweep): Promise<Outcome> {
    const found = Object.hasOwn(sweeps, name) ? sweeps[name] : undefined;
    // A newer server's.
    if (!found) return 'done';
    const count = await found.run();
    if (count > 0) told(name, count);
    return 'done';
  }

  /** Runs that ended an hour ago and whose workflow does not keep them. What fails for one project fails afterwards. */
  async function removeRuns(): Promise<number> {
    let count = 0;
    const failures: unknown[] = [];
    const before = clock() - hour * 1000;
    let left = await projects();
    for (let turn = 0; turn < mostTurns && left.length > 0; turn += 1) {
      const more: number[] = [];
      for (const project of left)
        try {
          const removed = await removeSome(project, before);
          count += removed;
          if (removed === mostRounds * runsAtOnce) more.push(project);
        } catch (error) {
          failures.push(error);
        }
      left = more;
    }
    if (failures.length > 0) throw failures[0];
    return count;
  }

  async function removeSome(project: number, before: number): Promise<number> {
    const hashes = await notKept(project);
    let count = 0;
    for (let round = 0; round < mostRounds && hashes.length > 0; round += 1) {
      const removed = await database.within(project, (tx) =>
        tx.rows(
          `select stepfast.remove_1($1, ended.run) from (
             select run from stepfast.runs
             where project = $1 and definition = any($2) and not live and updated_ms < $3
             limit ${runsAtOnce} for update skip locked
           ) ended`,
          [project, hashes, before],
        ),
      );
      count += removed.length;
      if (removed.length < runsAtOnce) break;
    }
    return count;
  }

  async function notKept(project: number): Promise<string[]> {
    const rows = await database.within(project, (tx) =>
      tx.rows<{ hash: string; body: string }>(
        `select hash, body from stepfast.definitions where project = $1 and body ~ '"keep"\\s*:\\s*false'`,
        [project],
      ),
    );
    // The store wrote it.
    return rows.filter(({ body }) => (JSON.parse(body) as Definition).keep === false).map(({ hash }) => hash);
  }

  async function forgetTokens(): Promise<number> {
    const [done] = await database.rows<{ count: number }>(
      `select stepfast.forget_tokens_1(now() - interval '30 days') as count`,
    );
    return done?.count ?? 0;
  }

  /** In rounds: a month has as many as calls were made. */
  async function forgetKeys(months: number): Promise<void> {
    for (let after: string | null = ''; after !== null; ) {
      const [done]: { next: string | null }[] = await database.within(noProject, (tx) =>
        tx.rows('select stepfast.forget_keys_1($1, $2) as next', [months, after]),
      );
      after = done?.next ?? null;
    }
  }

  async function turnMonths(): Promise<number> {
    await database.rows('select stepfast.make_months_1($1)', [monthsAhead]);
    if (retentionMonths === undefined) return 0;
    await forgetKeys(retentionMonths);
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
