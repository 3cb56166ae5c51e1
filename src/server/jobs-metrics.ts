import { Counter, Gauge, type Registry } from 'prom-client';

/** What background jobs report; the server knows no job. */
export interface JobsReport {
  running: boolean;
  /** When this server last looked for new batches, in milliseconds. */
  lookedAt?: number;
  /** Counts since the start of this server. */
  dispatched: number;
  delivered: number;
  failed: number;
  errors: number;
}

/** What waits in the database, for all servers. */
export interface Backlog {
  /** Jobs by queue: those that are due, and the age of the oldest of them in seconds. `webhook-dead` has dead letters. */
  queues: readonly { queue: string; due: number; later: number; oldestSeconds: number }[];
  /** Webhooks by state: ok, failing or disabled. */
  webhooks: Readonly<Record<string, number>>;
  /** Runs that wait for a worker. */
  work: number;
}

export interface JobsSource {
  report(): JobsReport;
  /** Throws if the database is not reachable. */
  backlog(): Promise<Backlog>;
}

const maxAgeMs = 10_000;

/** The backlog costs a query over all projects, so it is at most asked once in ten seconds. */
export function addJobsMetrics(registry: Registry, source: JobsSource, clock: () => number = Date.now): void {
  const registers = [registry];
  let known: { until: number; answer: Promise<Backlog | undefined> } | undefined;
  const backlog = (): Promise<Backlog | undefined> => {
    if (known === undefined || known.until <= clock())
      known = { until: clock() + maxAgeMs, answer: source.backlog().catch(() => undefined) };
    return known.answer;
  };
  new Gauge({
    name: 'stepfast_queue_jobs',
    help: 'Jobs that wait: due now, or later',
    labelNames: ['queue', 'state'] as const,
    registers,
    async collect() {
      for (const { queue, due, later } of (await backlog())?.queues ?? []) {
        this.set({ queue, state: 'due' }, due);
        this.set({ queue, state: 'later' }, later);
      }
    },
  });
  new Gauge({
    name: 'stepfast_queue_oldest_seconds',
    help: 'How long the oldest due job has waited',
    labelNames: ['queue'] as const,
    registers,
    async collect() {
      for (const { queue, oldestSeconds } of (await backlog())?.queues ?? [])
        this.set({ queue }, oldestSeconds);
    },
  });
  new Gauge({
    name: 'stepfast_webhooks',
    help: 'Webhooks by state',
    labelNames: ['state'] as const,
    registers,
    async collect() {
      for (const [state, count] of Object.entries((await backlog())?.webhooks ?? {}))
        this.set({ state }, count);
    },
  });
  new Gauge({
    name: 'stepfast_work_waiting',
    help: 'Runs that wait for a worker',
    registers,
    async collect() {
      const found = await backlog();
      if (found) this.set(found.work);
    },
  });
  new Gauge({
    name: 'stepfast_backlog_up',
    help: 'Whether the database answered what waits in it; if not, the last figures stay',
    registers,
    async collect() {
      this.set((await backlog()) ? 1 : 0);
    },
  });
  new Gauge({
    name: 'stepfast_jobs_running',
    help: 'Whether this server runs background jobs',
    registers,
    collect() {
      this.set(source.report().running ? 1 : 0);
    },
  });
  new Gauge({
    name: 'stepfast_jobs_looked_timestamp_seconds',
    help: 'When this server last looked for new batches to tell',
    registers,
    collect() {
      this.set((source.report().lookedAt ?? 0) / 1000);
    },
  });
  const total = (name: string, help: string, read: (report: JobsReport) => number): void => {
    new Counter({
      name,
      help,
      registers,
      collect() {
        this.reset();
        this.inc(read(source.report()));
      },
    });
  };
  total('stepfast_jobs_dispatched_total', 'Batches turned into jobs', ({ dispatched }) => dispatched);
  total('stepfast_jobs_errors_total', 'Errors of background jobs', ({ errors }) => errors);
  total('stepfast_webhook_delivered_total', 'Webhook deliveries that were accepted', (it) => it.delivered);
  total('stepfast_webhook_failed_total', 'Webhook deliveries that failed', ({ failed }) => failed);
}
