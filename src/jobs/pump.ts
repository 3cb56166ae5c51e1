import type { Job, PgBoss } from 'pg-boss';
import { createLoop, type Loop } from './loop.ts';

/** Result of a job: `again` retries it and counts as an attempt, `dead` moves it to the dead-letter queue. */
export type Outcome = 'done' | { again: string } | { dead: string };

interface PumpOptions<Data> {
  boss: PgBoss;
  queue: string;
  /** Concurrent jobs on this server, and per group across servers. */
  concurrency: number;
  perGroup?: number;
  everyMs: number;
  handle(job: Job<Data>): Promise<Outcome>;
  report(error: unknown): void;
}

/** Jobs that finish together trigger one fetch. */
const fetchRestMs = 20;

/**
 * Fetches jobs while there is capacity. Jobs run independently, so a slow one blocks no other. A job that cannot be
 * settled expires and is retried.
 */
export function createPump<Data extends object>(options: PumpOptions<Data>): Loop {
  const { boss, queue, concurrency, perGroup, handle, report } = options;
  const busy = new Set<Promise<void>>();
  const loop = createLoop(fill, { everyMs: options.everyMs, restMs: fetchRestMs, report });
  return {
    kick: loop.kick,
    async stop() {
      await loop.stop();
      await Promise.all(busy);
    },
  };

  /** Fetches until the queue is empty: one fetch may return only a few jobs of a single group. */
  async function fill(): Promise<void> {
    for (;;) {
      const room = concurrency - busy.size;
      if (room <= 0) return;
      const jobs = await boss.fetch<Data>(queue, {
        batchSize: room,
        ...(perGroup === undefined ? {} : { groupConcurrency: perGroup }),
      });
      if (jobs.length === 0) return;
      for (const job of jobs) start(job);
    }
  }

  function start(job: Job<Data>): void {
    const work = settle(job).catch(report);
    busy.add(work);
    void work.finally(() => {
      busy.delete(work);
      loop.kick();
    });
  }

  async function settle(job: Job<Data>): Promise<void> {
    const outcome = await handle(job).catch((error: unknown): Outcome => {
      report(error);
      return { again: error instanceof Error ? error.message : String(error) };
    });
    if (outcome === 'done') await boss.complete(queue, job);
    else if ('again' in outcome) await boss.fail(queue, job, { message: outcome.again });
    else await moveToDead(job, outcome.dead);
  }

  /** Copies before completing: a crash in between leaves a duplicate instead of losing the job. */
  async function moveToDead(job: Job<Data>, why: string): Promise<void> {
    const { id, data, groupId } = job;
    const group = typeof groupId === 'string' ? { group: { id: groupId } } : {};
    await boss.insert(`${queue}-dead`, [{ id, data, ...group }]);
    await boss.complete(queue, job, { message: why });
  }
}
