/** Real processes, killed and raced: `npm run kill [-- --kills N] [--race-steps N] [--seed N]`. */
import { parseArgs } from 'node:util';
import { killWorkers } from '../test/kill/kill.ts';
import { raceWorkers } from '../test/kill/race.ts';

// Without the start of Node, which is as slow as the machine is busy.
const slowestLoad = 1_000;

const { values } = parseArgs({
  options: { kills: { type: 'string' }, 'race-steps': { type: 'string' }, seed: { type: 'string' } },
});
const kills = Number(values.kills ?? 100);
const steps = Number(values['race-steps'] ?? 400);
const killed = await killWorkers({ kills, seed: Number(values.seed ?? 1) });
console.log(`${killed.kills} kills in ${killed.runs} runs, ${killed.answers} answers`);
console.log(
  `slowest recovery ${killed.slowestRecoveryMs.toFixed(0)} ms, ${killed.slowestLoadMs.toFixed(0)} ms without the start of Node`,
);
for (const { kind, what } of killed.findings.slice(0, 10)) console.log(`${kind}: ${what}`);
const raced = await raceWorkers({ steps });
for (const what of raced.failures.slice(0, 10)) console.log(what);
const count = (kind: string): number => killed.findings.filter((finding) => finding.kind === kind).length;
console.log(
  JSON.stringify({
    kills: killed.kills,
    lostAcks: count('lost'),
    doubleAdvances: count('twice'),
    slowestRecoveryMs: Math.round(killed.slowestRecoveryMs),
    slowestLoadMs: Math.round(killed.slowestLoadMs),
    raceSteps: raced.raceSteps,
    doubleWinners: raced.doubleWinners,
  }),
);
const bad = killed.findings.length + raced.doubleWinners + raced.wrongWinners + raced.failures.length;
if (bad > 0 || killed.slowestLoadMs > slowestLoad) process.exitCode = 1;
