import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { quantile } from '../figures.ts';
import type { Agent } from './agent.ts';
import { type Connection, openConnection } from './ground/connection.ts';
import type { ServerProcess } from './ground/servers.ts';

export interface Slice {
  calls: number;
  p50: number;
  p99: number;
  /** Memory of each server in bytes. */
  memory: number[];
  /** Share of CPU time stolen by the hypervisor, if known. */
  stolen: number;
}

export interface Simulation {
  agents: readonly Agent[];
  servers: readonly ServerProcess[];
  /** Simulated. */
  seconds: number;
  /** Simulated seconds between two calls of an agent, on average. */
  every: number;
  slices: number;
  /** Maximum calls per real second; 0 for unlimited. */
  rate: number;
  inFlight: number;
  random(): number;
  told(slice: Slice, number: number): void;
}

export interface Simulated {
  slices: Slice[];
  failures: string[];
  failed: number;
  realSeconds: number;
}

/** Calls per connection, because agents come and go. */
const callsOfConnection = 50;

/** Makes each agent's calls in simulated time order, as fast as the servers respond. */
export async function simulate(simulation: Simulation): Promise<Simulated> {
  const { agents, servers, seconds, every, slices, rate, inFlight, random, told } = simulation;
  const due: Agent[][] = Array.from({ length: seconds + 1 }, () => []);
  for (const agent of agents) due[Math.floor(random() * Math.min(every, seconds))]?.push(agent);
  const lines = createLines(servers, inFlight);
  const simulated: Simulated = { slices: [], failures: [], failed: 0, realSeconds: 0 };
  const begun = performance.now();
  const perSlice = seconds / slices;
  let times: number[] = [];
  let clock = readSteal();
  let sent = 0;
  let now = 0;

  for (let second = 0; second < seconds; second += 1) {
    now = second;
    for (const agent of due[second] ?? []) {
      const ahead = rate > 0 ? begun + (sent / rate) * 1000 - performance.now() : 0;
      if (ahead > 5) await sleep(ahead);
      const line = await lines.take();
      sent += 1;
      void act(agent, line, second);
    }
    due[second] = [];
    if ((second + 1) % perSlice >= 1 && second + 1 < seconds) continue;
    await lines.idle();
    const next = readSteal();
    const slice: Slice = {
      calls: times.length,
      p50: quantile(times, 0.5),
      p99: quantile(times, 0.99),
      memory: servers.map((server) => server.memory()),
      stolen: (next.stolen - clock.stolen) / Math.max(1, next.all - clock.all),
    };
    times = [];
    clock = next;
    simulated.slices.push(slice);
    told(slice, simulated.slices.length);
  }
  lines.close();
  simulated.realSeconds = (performance.now() - begun) / 1000;
  return simulated;

  async function act(agent: Agent, line: Line, second: number): Promise<void> {
    const from = performance.now();
    try {
      await agent.act(line.connection);
      times.push(performance.now() - from);
    } catch (error) {
      simulated.failed += 1;
      if (simulated.failures.length < 20) simulated.failures.push(String(error));
    }
    const gap = Math.max(1, Math.round(-Math.log(1 - random()) * every));
    // If the response took longer than the pause, the next call is late.
    due[Math.max(second + gap, now + 1)]?.push(agent);
    lines.give(line);
  }
}

interface Line {
  connection: Connection;
  port: number;
  calls: number;
}

interface Lines {
  take(): Promise<Line>;
  give(line: Line): void;
  /** When none is in use. */
  idle(): Promise<void>;
  close(): void;
}

function createLines(servers: readonly ServerProcess[], count: number): Lines {
  const free: Line[] = Array.from({ length: count }, (_, index) => {
    const port = servers[index % servers.length]?.port ?? 0;
    return { port, calls: 0, connection: openConnection({ port }) };
  });
  const waiting: ((line: Line) => void)[] = [];
  let idle: (() => void) | undefined;
  return {
    async take() {
      return free.shift() ?? new Promise<Line>((resolve) => waiting.push(resolve));
    },
    give(line) {
      line.calls += 1;
      if (line.calls >= callsOfConnection) {
        line.connection.close();
        line.connection = openConnection({ port: line.port });
        line.calls = 0;
      }
      const next = waiting.shift();
      if (next) return next(line);
      free.push(line);
      if (free.length === count) idle?.();
    },
    async idle() {
      if (free.length === count) return;
      await new Promise<void>((resolve) => {
        idle = resolve;
      });
      idle = undefined;
    },
    close() {
      for (const { connection } of free) connection.close();
    },
  };
}

/** CPU ticks in total, and those stolen by the hypervisor. */
function readSteal(): { all: number; stolen: number } {
  try {
    const ticks = readFileSync('/proc/stat', 'utf8').split('\n')[0]?.split(/\s+/).slice(1).map(Number) ?? [];
    return { all: ticks.reduce((sum, tick) => sum + tick, 0), stolen: ticks[7] ?? 0 };
  } catch {
    return { all: 0, stolen: 0 };
  }
}
