import type { PgBoss } from 'pg-boss';
import { StepfastError } from '../errors.ts';
import { type Database, openDatabase } from './database.ts';
import { createDispatcher } from './dispatch.ts';
import { createLoop, type Loop } from './loop.ts';
import { createPump } from './pump.ts';
import { createBoss, type Delivery, type Reminder, type Sweep } from './queues.ts';
import { createReminders } from './reminders.ts';
import { createReporter, type JobsLog } from './report.ts';
import { createSweeps } from './sweeps.ts';
import { createDeliverer } from './webhooks/deliver.ts';
import type { Reach } from './webhooks/guard.ts';

export interface JobsOptions {
  /** Of the database; its connections take the role of servers, which owns nothing. */
  url: string;
  /** Where the server is reached from outside, for links. */
  publicUrl?: string;
  /** Where webhooks may lead beside https on public addresses. */
  reach?: Partial<Reach>;
  /** Months whose runs have all ended are dropped after so many; never where it is absent. */
  retentionMonths?: number;
  /** Calls the listener when something was committed; answers how to stop. Without it there is polling alone. */
  onWake?(listener: () => void): () => void;
  log?: JobsLog;
  timing?: Partial<JobsTiming>;
  clock?(): number;
}

/** Milliseconds, but for the last. */
export interface JobsTiming {
  poll: number;
  /** How often it is looked for what a dead server left. */
  supervise: number;
  /** One attempt of a delivery. */
  attempt: number;
  /** A webhook that failed for so long is disabled. */
  disableAfter: number;
  /** How long something waits for a person before a reminder, and from one reminder to the next. */
  remindAfter: number;
  remindEvery: number;
  remindTimes: number;
}

export interface JobsHealth {
  running: boolean;
  /** When this server last looked for what has to be told. */
  lookedAt?: number;
  /** Since the start, on this server. */
  dispatched: number;
  delivered: number;
  failed: number;
  lastError?: { at: number; message: string };
}

/** What happens by itself: on every server, each thing done by one of them. */
export interface Jobs {
  /** Throws `jobs_unready` where the job tables are not those of this version. */
  start(): Promise<void>;
  /** Resolves when what was begun has ended: within the time of one attempt. */
  stop(): Promise<void>;
  health(): JobsHealth;
}

const minute = 60_000;
const hour = 60 * minute;
const defaults: JobsTiming = {
  poll: 2000,
  supervise: 20_000,
  attempt: 15_000,
  disableAfter: 5 * 24 * hour,
  remindAfter: 24 * hour,
  remindEvery: 24 * hour,
  remindTimes: 3,
};
const connections = 4;
/** Looking for what is to be told costs a glance at every project. */
const lookRestMs = 250;
/** Deliveries at once: here, and to one webhook from everywhere, so that a slow one holds few up. */
const atOnce = { here: 64, perWebhook: 4 };

export function createJobs(options: JobsOptions): Jobs {
  const { url, clock = Date.now } = options;
  const timing = { ...defaults, ...options.timing };
  const health: JobsHealth = { running: false, dispatched: 0, delivered: 0, failed: 0 };
  const report = createReporter(options.log, clock, (message) => {
    health.lastError = { at: clock(), message };
  });
  let running: { database: Database; boss: PgBoss; loops: Loop[]; unlisten?(): void } | undefined;
  return {
    async start() {
      if (running) return;
      const database = openDatabase({ url, connections, report });
      const boss = createBoss(database, { supervise: timing.supervise, report });
      try {
        await boss.start();
      } catch (error) {
        await boss.stop({ graceful: false });
        await database.close();
        throw unready(error);
      }
      const { loops, wake } = begin(database, boss);
      const unlisten = options.onWake?.(wake);
      running = { database, boss, loops, ...(unlisten ? { unlisten } : {}) };
      health.running = true;
    },
    async stop() {
      const ending = running;
      if (!ending) return;
      running = undefined;
      health.running = false;
      ending.unlisten?.();
      await Promise.all(ending.loops.map((loop) => loop.stop()));
      await ending.boss.stop({ graceful: false });
      await ending.database.close();
    },
    health: () => ({ ...health }),
  };

  function begin(database: Database, boss: PgBoss): { loops: Loop[]; wake(): void } {
    const everyMs = timing.poll;
    const shared = { boss, everyMs, report };
    const dispatcher = createDispatcher({ database, boss, remindAfterMs: timing.remindAfter, report });
    const deliverer = createDeliverer({
      database,
      clock,
      reach: { http: false, privateAddresses: false, ...options.reach },
      timeoutMs: timing.attempt,
      disableAfterMs: timing.disableAfter,
      ...(options.publicUrl === undefined ? {} : { publicUrl: options.publicUrl }),
    });
    const reminders = createReminders({
      database,
      boss,
      everyMs: timing.remindEvery,
      times: timing.remindTimes,
    });
    const sweeps = createSweeps({
      database,
      boss,
      clock,
      told: (sweep, count) => options.log?.info({ sweep, count }, 'swept'),
      ...(options.retentionMonths === undefined ? {} : { retentionMonths: options.retentionMonths }),
    });
    const deliveries = createPump<Delivery>({
      ...shared,
      queue: 'webhook',
      concurrency: atOnce.here,
      perGroup: atOnce.perWebhook,
      async handle({ data }) {
        const outcome = await deliverer.deliver(data);
        if (outcome === 'done') health.delivered += 1;
        else health.failed += 1;
        return outcome;
      },
    });
    const dispatching: Loop = createLoop(
      async () => {
        const { batches, deliveries: made, more } = await dispatcher.dispatch();
        health.lookedAt = clock();
        health.dispatched += batches;
        if (made > 0) deliveries.kick();
        if (more) dispatching.kick();
      },
      { everyMs, restMs: Math.min(everyMs, lookRestMs), report },
    );
    const reminding = createPump<Reminder>({
      ...shared,
      queue: 'reminder',
      concurrency: 4,
      handle: async ({ data }) => await reminders.remind(data),
    });
    const sweeping = createPump<Sweep>({
      ...shared,
      everyMs: Math.max(everyMs, 10_000),
      queue: 'sweep',
      concurrency: 1,
      handle: async ({ data }) => await sweeps.sweep(data),
    });
    const scheduling = createLoop(
      async () => {
        await sweeps.schedule();
        sweeping.kick();
      },
      { everyMs: 10 * minute, report },
    );
    return { loops: [dispatching, scheduling, deliveries, reminding, sweeping], wake: dispatching.kick };
  }
}

const unready = (cause: unknown): StepfastError =>
  new StepfastError(
    'jobs_unready',
    'The job tables cannot be used: the database does not answer, or they are of another version. Run: stepfast migrate',
    { cause },
  );
