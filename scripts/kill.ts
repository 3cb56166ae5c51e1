/** Real processes, killed and raced: `npm run kill [-- --kills N] [--race-steps N] [--seed N]`. */
import { parseArgs } from 'node:util';
import { killWorkers, typical } from '../test/kill/kill.ts';
import { raceWorkers } from '../test/kill/race.ts';
import { chosenSeed } from '../test/kit/seed.ts';

// Excludes Node's startup, which depends on the load of the machine.
const longLoad = 1_000;

const { values } = parseArgs({
  options: { kills: { type: 'string' }, 'race-steps': { type: 'string' }, seed: { type: 'string' } },
});
const kills = Number(values.kills ?? 100);
const steps = Number(values['race-steps'] ?? 400);
const seed = chosenSeed(values.seed);
const killed = await killWorkers({ kills, seed });
const slowestLoad = Math.max(...killed.loadsMs);
const typicalLoad = typical(killed.loadsMs);
console.log(`${killed.kills} kills in ${killed.runs} runs, ${killed.answers} answers`);
console.log(
  `slowest recovery ${killed.slowestRecoveryMs.toFixed(0)} ms; without the start of Node ${slowestLoad.toFixed(0)} ms, typically ${typicalLoad.toFixed(1)} ms`,
);
for (const { kind, what } of killed.findings.slice(0, 10)) console.log(`${kind}: ${what}`);
const raced = await raceWorkers({ steps });
for (const what of raced.failures.slice(0, 10)) console.log(what);
const count = (kind: string): number => killed.findings.filter((finding) => finding.kind === kind).length;
console.log(
  JSON.stringify({
    seed,
    kills: killed.kills,
    lostAcks: count('lost'),
    doubleAdvances: count('twice'),
    slowestRecoveryMs: Math.round(killed.slowestRecoveryMs),
    slowestLoadMs: Math.round(slowestLoad),
    typicalLoadMs: Number(typicalLoad.toFixed(1)),
    raceSteps: raced.raceSteps,
    doubleWinners: raced.doubleWinners,
  }),
);
const bad = killed.findings.length + raced.doubleWinners + raced.wrongWinners + raced.failures.length;
if (bad > 0 || !(typicalLoad < longLoad)) {
  console.error(`npm run kill -- --kills ${kills} --race-steps ${steps} --seed ${seed}`);
  process.exitCode = 1;
}
