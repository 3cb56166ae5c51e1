import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Backend } from './backend.ts';
import { addJobsMetrics, type JobsSource } from './jobs-metrics.ts';
import type { Share } from './limits.ts';

/** Prometheus metrics. Labels are route patterns, never projects, to keep cardinality low. */
export interface Metrics {
  begin(): void;
  end(request: { method: string; route: string; status: number; seconds: number }): void;
  /** An error answer; the codes are those of the API. */
  refused(code: string): void;
  /** A token or a project had its share of something. */
  limited(by: Share | 'unread'): void;
  /** A connection was closed because its client did not read. */
  stalled(): void;
  wake(): void;
  /** Sets where the number of open streams comes from. */
  countStreams(count: () => number): void;
  /** Adds those of the background jobs of this server. */
  watchJobs(source: JobsSource): void;
  /** Sets where the lag of streams and webhooks comes from, in seconds. */
  watchTailLag(lag: () => number): void;
  text(): Promise<string>;
  readonly contentType: string;
}

export function createMetrics({ backend }: { backend?: Pick<Backend, 'pool'> } = {}): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const requests = new Histogram({
    name: 'stepfast_http_request_seconds',
    help: 'Request duration by route and status',
    labelNames: ['method', 'route', 'status'] as const,
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 30],
    registers,
  });
  const inFlight = new Gauge({
    name: 'stepfast_http_in_flight',
    help: 'Requests in flight',
    registers,
  });
  const refusals = new Counter({
    name: 'stepfast_refused_total',
    help: 'Error answers by code',
    labelNames: ['code'] as const,
    registers,
  });
  const wakes = new Counter({
    name: 'stepfast_wakes_total',
    help: 'Database notifications received',
    registers,
  });
  const limited = new Counter({
    name: 'stepfast_limited_total',
    help: 'Requests refused because a token or a project had its share of requests, waits, streams or unread answers',
    labelNames: ['by'] as const,
    registers,
  });
  // A series that begins at its first refusal hides that one from rates.
  for (const by of ['requests', 'waits', 'streams', 'unread'] as const) limited.inc({ by }, 0);
  const stalled = new Counter({
    name: 'stepfast_stalled_readers_total',
    help: 'Connections closed because their clients did not read',
    registers,
  });
  let countStreams = (): number => 0;
  new Gauge({
    name: 'stepfast_streams',
    help: 'Open event streams',
    registers,
    collect() {
      this.set(countStreams());
    },
  });
  let tailLag = (): number => 0;
  new Gauge({
    name: 'stepfast_tail_lag_seconds',
    help: 'Time by which streams and webhooks are held back by a transaction in progress',
    registers,
    collect() {
      this.set(tailLag());
    },
  });
  new Gauge({
    name: 'stepfast_pool_connections',
    help: 'Database connections, and calls waiting for one',
    labelNames: ['state'] as const,
    registers,
    collect() {
      const { total = 0, idle = 0, waiting = 0 } = backend?.pool?.() ?? {};
      this.set({ state: 'busy' }, total - idle);
      this.set({ state: 'idle' }, idle);
      this.set({ state: 'waiting' }, waiting);
    },
  });
  return {
    begin: () => inFlight.inc(),
    end({ method, route, status, seconds }) {
      inFlight.dec();
      requests.observe({ method, route, status: String(status) }, seconds);
    },
    refused: (code) => refusals.inc({ code }),
    limited: (by) => limited.inc({ by }),
    stalled: () => stalled.inc(),
    wake: () => wakes.inc(),
    countStreams(count) {
      countStreams = count;
    },
    watchJobs: (source) => addJobsMetrics(registry, source),
    watchTailLag(lag) {
      tailLag = lag;
    },
    text: () => registry.metrics(),
    contentType: registry.contentType,
  };
}
