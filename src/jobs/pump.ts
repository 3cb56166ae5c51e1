import type { Job, PgBoss } from 'pg-boss';
import { createLoop, type Loop } from './loop.ts';

/** What became of a job: `again` counts as an attempt, `dead` needs a person. */
export type Outcome = 'done' | { again: string } | { dead: string };

interface PumpOptions<Data> {
  boss: PgBoss;
  queue: string;
  /** How many jobs at once on this server, and of one group on all servers. */
  concurrency: number;
  perGroup?: number;
  everyMs: number;
  handle(job: Job<Data>): Promise<Outcome>;
  report(error: unknown): void;
}

/** Jobs that end together are followed by one fetch. */
const fetchRestMs = 20;

/**
 * Takes jobs as long as there is room, each on its own: a slow one holds nobody up. Whatever cannot be settled
 * expires and is done again.
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

  /** Until nothing comes: the first fetch may see only one group, of which it takes few. */
  async function fill(): Promise<void> {
    for (;;) {
      const room = concurrency - busy.size;
      if (room <= 0) return;
      const jobs = await boss.fetch<Data>(queue, {
        batchSize: room,
        ...(perGroup === undefined ? {} : { groupConcurrency: perGroup }),
      });
      if (jobs.length === 0) return;
      for (const job of jobs) take(job);
    }
  }

  function take(job: Job<Data>): void {
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
    else await bury(job, outcome.dead);
  }

  /** The copy first: a crash in between leaves two, which a person sees as one by its data. */
  async function bury(job: Job<Data>, why: string): Promise<void> {
    const { id, data, groupId } = job;
    const group = typeof groupId === 'string' ? { group: { id: groupId } } : {};
    await boss.insert(`${queue}-dead`, [{ id, data, ...group }]);
    await boss.complete(queue, job, { message: why });
  }
}
