/**
 * Mutants in random parts of the state machine: `npm run mutation [-- --mutants N] [--seed N] [--least PERCENT]`. A new seed
 * takes other parts. Prints Stryker's table and one JSON line.
 */
import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { chosenSeed } from '../../test/kit/seed.ts';
import { createDice } from '../dice.ts';

process.chdir(join(import.meta.dirname, '../..'));
const { values } = parseArgs({
  options: {
    mutants: { type: 'string', default: '500' },
    seed: { type: 'string' },
    // One random sample had 80.
    least: { type: 'string', default: '70' },
  },
});
const seed = chosenSeed(values.seed);
const config = 'lab/mutation/stryker.config.json';
/** Mutants that lie in one part only are tried, so parts must hold whole functions. */
const linesInPart = 40;
/** Mutants in one line of `src/machine`, on average. */
const density = 0.75;

const parts = globSync('src/machine/**/*.ts', { exclude: ['**/*.test.ts'] })
  .sort()
  .flatMap((file) => {
    const lines = readFileSync(file, 'utf8').split('\n').length;
    const starts = Array.from({ length: Math.ceil(lines / linesInPart) }, (_, n) => n * linesInPart + 1);
    return starts.map((start) => `${file}:${start}-${Math.min(start + linesInPart - 1, lines)}`);
  });
const dice = createDice(seed);
const count = Math.ceil(Number(values.mutants) / (linesInPart * density));
const chosen = parts
  .map((part) => ({ part, order: dice() }))
  .sort((a, b) => a.order - b.order)
  .slice(0, count)
  .map(({ part }) => part);

const { status } = spawnSync('stryker', ['run', config, '--mutate', chosen.join()], { stdio: 'inherit' });
const counts = countsIn(readFileSync('reports/mutation.json', 'utf8'));
const { Killed = 0, Timeout = 0, Survived = 0, NoCoverage = 0 } = counts;
const caught = Killed + Timeout;
const mutants = caught + Survived + NoCoverage;
const score = Math.round((10_000 * caught) / mutants) / 100;
// Without a mutant there is no score.
if (status !== 0 || !(score >= Number(values.least))) {
  console.log(`npm run mutation -- --mutants ${values.mutants} --seed ${seed} --least ${values.least}`);
  process.exitCode = 1;
}
console.log(JSON.stringify({ mutants, caught, score, seed }));

function countsIn(report: string): Record<string, number> {
  const { files }: { files: Record<string, { mutants: { status: string }[] }> } = JSON.parse(report);
  const counts: Record<string, number> = {};
  for (const { mutants } of Object.values(files))
    for (const mutant of mutants) counts[mutant.status] = (counts[mutant.status] ?? 0) + 1;
  return counts;
}
