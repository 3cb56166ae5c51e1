import type { Database } from './database.ts';
import { queues } from './queues.ts';

/** What waits in the database, for all servers. */
export interface Backlog {
  /** Jobs that are due, those for later, and how long the oldest due one has waited. */
  queues: { queue: string; due: number; later: number; oldestSeconds: number }[];
  /** Webhooks by state: ok, failing or disabled. */
  webhooks: Record<string, number>;
  /** Runs that wait for a worker. */
  work: number;
}

/** Counts only: neither projects nor contents leave the database. */
export async function readBacklog(database: Pick<Database, 'rows'>): Promise<Backlog> {
  const waiting = await database.rows<{ queue: string; due: number; later: number; oldest: number | null }>(
    `select name as queue, count(*) filter (where start_after <= now())::int as due,
       count(*) filter (where start_after > now())::int as later,
       extract(epoch from now() - min(start_after) filter (where start_after <= now()))::float8 as oldest
     from stepfast_jobs.job where name = any($1) and state < 'active' group by name`,
    [queues.map(({ name }) => name)],
  );
  const [counts] = await database.rows<{ ok: number; failing: number; disabled: number; work: number }>(
    'select ok, failing, disabled, work from stepfast.backlog_1()',
  );
  const { ok = 0, failing = 0, disabled = 0, work = 0 } = counts ?? {};
  return {
    queues: queues.map(({ name: queue }) => {
      const { due = 0, later = 0, oldest = 0 } = waiting.find((each) => each.queue === queue) ?? {};
      return { queue, due, later, oldestSeconds: Math.max(0, oldest ?? 0) };
    }),
    webhooks: { ok, failing, disabled },
    work,
  };
}
