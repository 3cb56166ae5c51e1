import type { Database } from './database.ts';

/** A run leased to a worker. */
export interface Taken {
  run: string;
  /** Fencing token: never reused. */
  epoch: string;
  until: Date;
}

/**
 * Runs waiting for a worker, each at most once. When a lease expires, the next worker can take the run, and calls of the
 * previous holder return `false`.
 */
export interface RunQueue {
  /** A run that is currently leased is queued again after its worker finishes. */
  enqueue(project: number, run: string): Promise<void>;
  /** Takes the run that has waited longest. */
  take(project: number, worker: string, leaseMs: number): Promise<Taken | undefined>;
  heartbeat(project: number, held: Held, leaseMs: number): Promise<boolean>;
  finish(project: number, held: Held): Promise<boolean>;
  giveBack(project: number, held: Held, delayMs?: number): Promise<boolean>;
}

export type Held = Pick<Taken, 'run' | 'epoch'>;

export function createRunQueue(database: Pick<Database, 'within'>): RunQueue {
  return {
    async enqueue(project, run) {
      await changed(
        project,
        `insert into stepfast.work (project, run) values ($1, $2)
         on conflict (project, run) do update set again = true where stepfast.work.epoch is not null`,
        [project, run],
      );
    },

    async take(project, worker, leaseMs) {
      const [taken] = await database.within(project, (tx) =>
        tx.rows<{ run: string; epoch: string; until: Date }>(
          `update stepfast.work w
           set epoch = nextval('stepfast.work_epoch'), worker = $2, until = now() + make_interval(secs => $3)
           from (
             select run from stepfast.work
             where project = $1 and until <= now()
             order by until limit 1 for update skip locked
           ) next
           where w.project = $1 and w.run = next.run
           returning w.run, w.epoch::text, w.until`,
          [project, worker, leaseMs / 1000],
        ),
      );
      return taken;
    },

    heartbeat: (project, { run, epoch }, leaseMs) =>
      changed(
        project,
        `update stepfast.work set until = now() + make_interval(secs => $4)
         where project = $1 and run = $2 and epoch = $3::bigint returning run`,
        [project, run, epoch, leaseMs / 1000],
      ),

    finish: (project, { run, epoch }) =>
      database.within(project, async (tx) => {
        const held = [project, run, epoch];
        const mine = 'project = $1 and run = $2 and epoch = $3::bigint';
        const [found] = await tx.rows<{ again: boolean }>(
          `select again from stepfast.work where ${mine} for update`,
          held,
        );
        if (found?.again)
          await tx.rows(
            `update stepfast.work set again = false, epoch = null, worker = null, until = now() where ${mine}`,
            held,
          );
        else if (found) await tx.rows(`delete from stepfast.work where ${mine}`, held);
        return found !== undefined;
      }),

    giveBack: (project, { run, epoch }, delayMs = 0) =>
      changed(
        project,
        `update stepfast.work
         set again = false, epoch = null, worker = null, until = now() + make_interval(secs => $4)
         where project = $1 and run = $2 and epoch = $3::bigint returning run`,
        [project, run, epoch, delayMs / 1000],
      ),
  };

  async function changed(project: number, text: string, values: readonly unknown[]): Promise<boolean> {
    const rows = await database.within(project, (tx) => tx.rows(text, values));
    return rows.length > 0;
  }
}
