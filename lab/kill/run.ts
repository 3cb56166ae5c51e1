/** Real processes, killed and raced: `npm run kill [-- --kills N] [--race-steps N] [--seed N]`. */
import { parseArgs } from 'node:util';
import { killWorkers, typical } from '../../test/kill/kill.ts';
import { raceWorkers } from '../../test/kill/race.ts';
import { killRunSteps } from '../../test/kill/run-steps.ts';
import { chosenSeed } from '../../test/kit/seed.ts';

// Excludes Node's startup, which depends on the load of the machine.
const longLoad = 1_000;
/** Of the kills, so many are of runs whose steps are commands. */
const inRunSteps = 0.4;
/** From so many kills on, commands of both kinds were interrupted, or the kills prove nothing. */
const many = 100;

const { values } = parseArgs({
  options: { kills: { type: 'string' }, 'race-steps': { type: 'string' }, seed: { type: 'string' } },
});
const kills = Number(values.kills ?? 200);
const raceSteps = Number(values['race-steps'] ?? 1_000);
const seed = chosenSeed(values.seed);
const killed = await killWorkers({ kills: Math.floor(kills * (1 - inRunSteps)), seed });
const slowestLoad = Math.max(...killed.loadsMs);
const typicalLoad = typical(killed.loadsMs);
console.log(`${killed.kills} kills in ${killed.runs} runs, ${killed.answers} answers`);
console.log(
  `slowest recovery ${killed.slowestRecoveryMs.toFixed(0)} ms; without the start of Node ${slowestLoad.toFixed(0)} ms, typically ${typicalLoad.toFixed(1)} ms`,
);
const steps = await killRunSteps({ kills: Math.ceil(kills * inRunSteps), seed });
const runKills = steps.workerKills + steps.runnerKills;
console.log(
  `${runKills} kills in ${steps.runs} runs of commands, ${steps.runnerKills} of them of the process that runs one; ${steps.starts} commands started, ${steps.startedAgain} of them again, ${steps.waits} waits for a person`,
);
if (runKills >= many && (steps.startedAgain === 0 || steps.waits === 0))
  steps.findings.push({ kind: 'wrong', what: 'no command was interrupted' });
const findings = [...killed.findings, ...steps.findings];
for (const { kind, what } of findings.slice(0, 10)) console.log(`${kind}: ${what}`);
const raced = await raceWorkers({ steps: raceSteps });
for (const what of raced.failures.slice(0, 10)) console.log(what);
const count = (kind: string): number => killed.findings.filter((finding) => finding.kind === kind).length;
console.log(
  JSON.stringify({
    seed,
    kills: killed.kills + runKills,
    runKills,
    runnerKills: steps.runnerKills,
    startedAgain: steps.startedAgain,
    startedTwice: steps.startedTwice,
    lostAcks: count('lost'),
    doubleAdvances: count('twice'),
    slowestRecoveryMs: Math.round(killed.slowestRecoveryMs),
    slowestLoadMs: Math.round(slowestLoad),
    typicalLoadMs: Number(typicalLoad.toFixed(1)),
    raceSteps: raced.raceSteps,
    doubleWinners: raced.doubleWinners,
  }),
);
const bad = findings.length + raced.doubleWinners + raced.wrongWinners + raced.failures.length;
if (bad > 0 || !(typicalLoad < longLoad)) {
  console.error(`npm run kill -- --kills ${kills} --race-steps ${raceSteps} --seed ${seed}`);
  process.exitCode = 1;
}
