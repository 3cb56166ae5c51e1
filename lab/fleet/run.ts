/**
 * Many agents over an hour of simulated work against two servers: `npm run fleet [-- --agents N] [--minutes N]
 * [--every SECONDS] [--write]`. Fails if memory or latency grow, or if a call fails.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createDice } from '../dice.ts';
import { median, rounded, row } from '../figures.ts';
import { options } from '../options.ts';
import { createAgent } from './agent.ts';
import { drawFleet } from './drawing.ts';
import { createTeam } from './ground/team.ts';
import { type Slice, simulate } from './simulate.ts';

/** Agents per project. */
const together = 100;
/** With fewer calls the servers are still warming up, and growth cannot be measured. */
const leastCalls = 20_000;
const limits = { latencyGrowth: 1.5, memoryGrowth: 1.25 };

/** `every`: simulated seconds between two calls of an agent. */
const asked = options({ agents: 10_000, minutes: 60, every: 120, write: false });
const { agents: count, minutes, every } = asked;
const slices = Math.min(60, Math.max(8, minutes));
const random = createDice(1);

await using team = await createTeam({ servers: 2 });
const tokens = await team.tokens(count, together);
const agents = tokens.map((token, number) => createAgent(number, token, random));
console.log(
  `${count} agents of ${Math.ceil(count / together)} projects, a call of each every ${every} s on average\n`,
);
console.log(row(['', 'calls', 'p50', 'p99', 'memory'], 8));
const simulated = await simulate({
  agents,
  servers: team.servers,
  seconds: minutes * 60,
  every,
  slices,
  random,
  told({ calls, p50, p99, memory }) {
    console.log(
      row(['', calls, `${rounded(p50)} ms`, `${rounded(p99)} ms`, memory.map(megabytes).join('+')], 8),
    );
  },
});

const quarter = (which: number): Slice[] =>
  simulated.slices.slice(Math.floor((slices * which) / 4), Math.floor((slices * (which + 1)) / 4));
const growth = (of: (slice: Slice) => number): number =>
  rounded(median(quarter(3).map(of)) / median(quarter(1).map(of)), 3);
const memoryOf = ({ memory }: Slice): number => memory.reduce((sum, each) => sum + each, 0);
const calls = simulated.slices.reduce((sum, slice) => sum + slice.calls, 0);
for (const failure of simulated.failures.slice(0, 20)) console.log(failure);
if (asked.write)
  writeFileSync(
    join(import.meta.dirname, '..', '..', 'docs', 'fleet.svg'),
    drawFleet(simulated.slices, { agents: count, minutes, calls }),
  );
const figures = {
  ...{ agents: count, minutes, calls, judged: calls >= leastCalls },
  runsEnded: agents.reduce((sum, agent) => sum + agent.runsDone, 0),
  failed: simulated.failures.length,
  realSeconds: Math.round(simulated.realSeconds),
  perSecond: Math.round(calls / simulated.realSeconds),
  p50: rounded(median(simulated.slices.map(({ p50 }) => p50))),
  p99: rounded(median(simulated.slices.map(({ p99 }) => p99))),
  latencyGrowth: growth(({ p50 }) => p50),
  memoryGrowth: growth(memoryOf),
  memoryMb: megabytes(median(quarter(3).map(memoryOf))),
};
for (const [what, limit] of Object.entries(limits)) {
  const found = figures[what as keyof typeof limits];
  if (found <= limit || !figures.judged) continue;
  console.error(`${what} is ${found}, more than ${limit}`);
  process.exitCode = 1;
}
if (figures.failed > 0) process.exitCode = 1;
console.log(JSON.stringify(figures));

function megabytes(bytes: number): number {
  return Math.round(bytes / 2 ** 20);
}
