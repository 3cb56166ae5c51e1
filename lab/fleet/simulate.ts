import { quantile } from '../figures.ts';
import type { Agent } from './agent.ts';
import { openConnection } from './ground/connection.ts';
import type { ServerProcess } from './ground/servers.ts';

export interface Slice {
  calls: number;
  p50: number;
  p99: number;
  /** Memory of each server in bytes. */
  memory: number[];
}

export interface Simulation {
  agents: readonly Agent[];
  servers: readonly ServerProcess[];
  /** Simulated. */
  seconds: number;
  /** Simulated seconds between two calls of an agent, on average. */
  every: number;
  slices: number;
  random(): number;
  told(slice: Slice): void;
}

export interface Simulated {
  slices: Slice[];
  failures: string[];
  realSeconds: number;
}

const callsAtOnce = 32;
/** Calls per connection, because agents come and go. */
const callsOfConnection = 50;

/** Makes each agent's calls in simulated time order, as fast as the servers respond. */
export async function simulate(simulation: Simulation): Promise<Simulated> {
  const { agents, servers, seconds, every, slices, random, told } = simulation;
  const due: Agent[][] = Array.from({ length: seconds }, () => []);
  for (const agent of agents) due[Math.floor(random() * Math.min(every, seconds))]?.push(agent);
  const simulated: Simulated = { slices: [], failures: [], realSeconds: 0 };
  const begun = performance.now();
  let times: number[] = [];
  let now = 0;

  for (let number = 1; number <= slices; number += 1) {
    times = [];
    const end = Math.round((seconds * number) / slices);
    await Promise.all(Array.from({ length: callsAtOnce }, (_, caller) => callUntil(end, caller)));
    const memory = servers.map((server) => server.memory());
    const slice = { calls: times.length, p50: quantile(times, 0.5), p99: quantile(times, 0.99), memory };
    simulated.slices.push(slice);
    told(slice);
  }
  simulated.realSeconds = (performance.now() - begun) / 1000;
  return simulated;

  function nextDue(end: number): Agent | undefined {
    for (; now < end; now += 1) {
      const agent = due[now]?.shift();
      if (agent) return agent;
    }
    return undefined;
  }

  /** One call after the other, for whichever agent is next. */
  async function callUntil(end: number, caller: number): Promise<void> {
    const port = servers[caller % servers.length]?.port ?? 0;
    let connection = openConnection(port);
    let calls = 0;
    for (let agent = nextDue(end); agent; agent = nextDue(end)) {
      const second = now;
      const from = performance.now();
      try {
        await agent.act(connection);
        times.push(performance.now() - from);
      } catch (error) {
        simulated.failures.push(String(error));
      }
      const gap = Math.max(1, Math.round(-Math.log(1 - random()) * every));
      // If the response took longer than the pause, the next call is late.
      due[Math.max(second + gap, now + 1)]?.push(agent);
      calls += 1;
      if (calls % callsOfConnection > 0) continue;
      connection.close();
      connection = openConnection(port);
    }
    connection.close();
  }
}
