import type { PgBoss } from 'pg-boss';
import { StepfastError } from '../errors.ts';
import { type Backlog, readBacklog } from './backlog.ts';
import { type Database, openDatabase } from './database.ts';
import { createDispatcher } from './dispatch.ts';
import { createLoop, type Loop } from './loop.ts';
import { createPump } from './pump.ts';
import { createBoss, type Delivery, type Reminder, type Sweep } from './queues.ts';
import { createReminders } from './reminders.ts';
import { createReporter, type JobsLog } from './report.ts';
import { createSweeps } from './sweeps.ts';
import { createDeliverer } from './webhooks/deliver.ts';
import type { AllowedTargets } from './webhooks/guard.ts';

export interface JobsOptions {
  /** Database URL. Connections use the server role, which owns nothing. */
  url: string;
  /** The public URL of the server, for links. */
  publicUrl?: string;
  /** Webhook targets allowed besides https on public addresses. */
  allow?: Partial<AllowedTargets>;
  /** Months to keep ended runs. Without it, they are kept forever. */
  retentionMonths?: number | undefined;
  /** Subscribes to commits and returns an unsubscribe function. Without it, jobs only poll. */
  onWake?(listener: () => void): () => void;
  log?: JobsLog;
  timing?: Partial<JobsTiming>;
  clock?(): number;
}

/** Milliseconds, except `remindTimes`. */
export interface JobsTiming {
  poll: number;
  /** How often to check for jobs of a dead server. */
  supervise: number;
  /** Timeout of one delivery attempt. */
  attempt: number;
  /** A webhook that keeps failing this long is disabled. */
  disableAfter: number;
  /** Time before the first reminder of a waiting run, and between reminders. */
  remindAfter: number;
  remindEvery: number;
  remindTimes: number;
}

export interface JobsHealth {
  running: boolean;
  /** When this server last checked for new batches. */
  lookedAt?: number;
  /** Counts since the start of this server. */
  dispatched: number;
  delivered: number;
  failed: number;
  errors: number;
  lastError?: { at: number; message: string };
}

/** Background jobs. They run on every server, and each job is done by one of them. */
export interface Jobs {
  /** Throws `jobs_unready` if the job tables do not match this version. */
  start(): Promise<void>;
  /** Resolves when running jobs have finished, at most the time of one attempt. */
  stop(): Promise<void>;
  health(): JobsHealth;
  /** What waits in the database, for all servers. Throws if jobs do not run, or the database is not reachable. */
  backlog(): Promise<Backlog>;
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
/** Each check queries every project. */
const dispatchRestMs = 250;
/** Concurrent deliveries: on this server, and to one webhook across servers, so that a slow one blocks few. */
const maxDeliveries = { perServer: 64, perWebhook: 4 };

export function createJobs(options: JobsOptions): Jobs {
  const { url, clock = Date.now } = options;
  const timing = { ...defaults, ...options.timing };
  const health: JobsHealth = { running: false, dispatched: 0, delivered: 0, failed: 0, errors: 0 };
  const report = createReporter(options.log, clock, (message) => {
    health.errors += 1;
    health.lastError = { at: clock(), message };
  });
  let running:
    | { database: Database; boss: PgBoss; loops: Loop[]; unlisten: (() => void) | undefined }
    | undefined;
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
      const { loops, wake } = startLoops(database, boss);
      const unlisten = options.onWake?.(wake);
      running = { database, boss, loops, unlisten };
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
    async backlog() {
      if (!running) throw new StepfastError('jobs_unready', 'Background jobs do not run on this server.');
      return await readBacklog(running.database);
    },
  };

  function startLoops(database: Database, boss: PgBoss): { loops: Loop[]; wake(): void } {
    const everyMs = timing.poll;
    const shared = { boss, everyMs, report };
    const dispatcher = createDispatcher({ database, boss, remindAfterMs: timing.remindAfter, report });
    const deliverer = createDeliverer({
      database,
      clock,
      allow: { http: false, privateAddresses: false, ...options.allow },
      timeoutMs: timing.attempt,
      disableAfterMs: timing.disableAfter,
      publicUrl: options.publicUrl,
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
      onSwept: (sweep, count) => options.log?.info({ sweep, count }, 'swept'),
      retentionMonths: options.retentionMonths,
    });
    const deliveries = createPump<Delivery>({
      ...shared,
      queue: 'webhook',
      concurrency: maxDeliveries.perServer,
      perGroup: maxDeliveries.perWebhook,
      async handle({ data }) {
        const outcome = await deliverer.deliver(data);
        if (outcome === 'done') health.delivered += 1;
        else health.failed += 1;
        return outcome;
      },
    });
    const dispatching: Loop = createLoop(
      async () => {
        const { batches, deliveries: enqueued, more } = await dispatcher.dispatch();
        health.lookedAt = clock();
        health.dispatched += batches;
        if (enqueued > 0) deliveries.kick();
        if (more) dispatching.kick();
      },
      { everyMs, restMs: Math.min(everyMs, dispatchRestMs), report },
    );
    const reminderPump = createPump<Reminder>({
      ...shared,
      queue: 'reminder',
      concurrency: 4,
      handle: async ({ data }) => await reminders.remind(data),
    });
    const sweepPump = createPump<Sweep>({
      ...shared,
      everyMs: Math.max(everyMs, 10_000),
      queue: 'sweep',
      concurrency: 1,
      handle: async ({ data }) => await sweeps.sweep(data),
    });
    const scheduling = createLoop(
      async () => {
        await sweeps.schedule();
        sweepPump.kick();
      },
      { everyMs: 10 * minute, report },
    );
    return { loops: [dispatching, scheduling, deliveries, reminderPump, sweepPump], wake: dispatching.kick };
  }
}

const unready = (cause: unknown): StepfastError =>
  new StepfastError(
    'jobs_unready',
    'The job tables are unusable: the database is not reachable, or they belong to another version. Run: stepfast migrate',
    { cause },
  );
