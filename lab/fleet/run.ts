/**
 * Many agents over an hour of simulated work against two servers: `npm run fleet [-- --agents N] [--minutes N]
 * [--every SECONDS] [--rate N] [--write]`. Fails if memory or latency grow, or if a call fails.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createDice } from '../dice.ts';
import { median, rounded, row } from '../figures.ts';
import { createAgent } from './agent.ts';
import { drawFleet } from './drawing.ts';
import { createTeam } from './ground/team.ts';
import { type Slice, simulate } from './simulate.ts';

/** Agents per project. */
const together = 100;
/** With fewer calls the servers are still warming up, and growth cannot be measured. */
const leastCalls = 20_000;
const limits = { latencyGrowth: 1.5, memoryGrowth: 1.25 };

const { values } = parseArgs({
  options: {
    agents: { type: 'string', default: '10000' },
    minutes: { type: 'string', default: '60' },
    /** Simulated seconds between two calls of an agent. */
    every: { type: 'string', default: '120' },
    /** Maximum calls per real second; 0 for unlimited. */
    rate: { type: 'string', default: '0' },
    'in-flight': { type: 'string', default: '32' },
    slices: { type: 'string' },
    seed: { type: 'string', default: '1' },
    write: { type: 'boolean', default: false },
  },
});
const count = Number(values.agents);
const minutes = Number(values.minutes);
const slices = Number(values.slices ?? Math.min(60, Math.max(8, minutes)));
const random = createDice(Number(values.seed));

await using team = await createTeam({ servers: 2 });
const tokens = await team.tokens(count, together);
const agents = tokens.map((token, number) => createAgent(number, token, random));
console.log(
  `${count} agents of ${Math.ceil(count / together)} projects, each with its token; ${minutes} minutes of work,`,
);
console.log(
  `a call of each every ${values.every} s on average; ${values['in-flight']} calls at once, two servers\n`,
);
console.log(row(['slice', 'calls', 'p50', 'p99', 'memory', 'stolen'], 8));
const simulated = await simulate({
  agents,
  servers: team.servers,
  seconds: minutes * 60,
  every: Number(values.every),
  slices,
  rate: Number(values.rate),
  inFlight: Number(values['in-flight']),
  random,
  told({ calls, p50, p99, memory, stolen }, number) {
    const cells = [
      number,
      calls,
      `${rounded(p50)} ms`,
      `${rounded(p99)} ms`,
      memory.map(megabytes).join('+'),
      percent(stolen),
    ];
    console.log(row(cells, 8));
  },
});

const quarter = (which: number): Slice[] =>
  simulated.slices.slice(Math.floor((slices * which) / 4), Math.floor((slices * (which + 1)) / 4));
const growth = (of: (slice: Slice) => number): number =>
  rounded(median(quarter(3).map(of)) / median(quarter(1).map(of)), 3);
const memoryOf = ({ memory }: Slice): number => memory.reduce((sum, each) => sum + each, 0);
const calls = simulated.slices.reduce((sum, slice) => sum + slice.calls, 0);
const runs = agents.reduce((sum, agent) => sum + agent.runsDone, 0);
for (const failure of simulated.failures) console.log(failure);
if (values.write)
  writeFileSync(
    join(import.meta.dirname, '..', '..', 'docs', 'fleet.svg'),
    drawFleet(simulated.slices, { agents: count, minutes, calls }),
  );
const figures = {
  agents: count,
  minutes,
  calls,
  judged: calls >= leastCalls,
  runsEnded: runs,
  failed: simulated.failed,
  realSeconds: Math.round(simulated.realSeconds),
  perSecond: Math.round(calls / simulated.realSeconds),
  p50: rounded(median(simulated.slices.map(({ p50 }) => p50))),
  p99: rounded(median(simulated.slices.map(({ p99 }) => p99))),
  latencyGrowth: growth(({ p50 }) => p50),
  p99Growth: growth(({ p99 }) => p99),
  memoryGrowth: growth(memoryOf),
  memoryMb: Math.round(median(quarter(3).map(memoryOf)) / 2 ** 20),
};
for (const [what, limit] of Object.entries(limits)) {
  const found = figures[what as keyof typeof limits];
  if (found <= limit || !figures.judged) continue;
  console.error(`${what} is ${found}, more than ${limit}`);
  process.exitCode = 1;
}
if (simulated.failed > 0) process.exitCode = 1;
console.log(JSON.stringify(figures));

function megabytes(bytes: number): string {
  return String(Math.round(bytes / 2 ** 20));
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}
