import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Backend } from './backend.ts';

/** For Prometheus. Routes are patterns and nothing names a project: what is counted stays few. */
export interface Metrics {
  begin(): void;
  end(request: { method: string; route: string; status: number; seconds: number }): void;
  refused(why: 'auth' | 'host' | 'rate' | 'overload'): void;
  wake(): void;
  streams(count: number): void;
  text(): Promise<string>;
  readonly contentType: string;
}

export function createMetrics({ backend }: { backend?: Pick<Backend, 'pool'> } = {}): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const requests = new Histogram({
    name: 'stepfast_http_request_seconds',
    help: 'How long requests took, by route and status',
    labelNames: ['method', 'route', 'status'] as const,
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 30],
    registers,
  });
  const inFlight = new Gauge({
    name: 'stepfast_http_in_flight',
    help: 'Requests being worked on',
    registers,
  });
  const refusals = new Counter({
    name: 'stepfast_http_refused_total',
    help: 'Requests refused at the door',
    labelNames: ['why'] as const,
    registers,
  });
  const wakes = new Counter({ name: 'stepfast_wakes_total', help: 'Wakes by the database', registers });
  const streams = new Gauge({ name: 'stepfast_streams', help: 'Open event streams', registers });
  new Gauge({
    name: 'stepfast_pool_connections',
    help: 'Connections to the database, and calls that wait for one',
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
    refused: (why) => refusals.inc({ why }),
    wake: () => wakes.inc(),
    streams: (count) => streams.set(count),
    text: () => registry.metrics(),
    contentType: registry.contentType,
  };
}
