/**
 * `npm run seeds [-- ID ...] [--plant]`: every sample of the five seed documents in `STEPFAST_CORPUS` is run, or has a
 * reason why it cannot be. `--plant` replaces each sample with nonsense, which its check must notice. The last line is JSON.
 * Without the documents it exits with 77: not run.
 */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { ensureBuilt } from '../../scripts/ensure-built.ts';
import { options } from '../options.ts';
import { createSeeds, type Row } from './check.ts';
import { type Sample, samplesOf } from './samples.ts';
import { rows } from './table.ts';

const { plant, names } = options({ plant: false });
const folder = process.env.STEPFAST_CORPUS && join(process.env.STEPFAST_CORPUS, 'seeds');
if (!folder || !existsSync(folder)) {
  console.log('not run: STEPFAST_CORPUS has no seed documents');
  process.exit(77);
}

ensureBuilt();
const samples = globSync(join(folder, '*.txt'))
  .sort()
  .flatMap((file) => samplesOf(basename(file).slice(0, 3), readFileSync(file, 'utf8')));
const nonsense = { block: '} nonsense {', command: 'nonsense', file: '../nonsense' };
const counts = { samples: 0, run: 0, excused: 0, failed: 0 };
const ids = [...new Set([...samples, ...rows].map(({ id }) => id))];
for (const id of ids.filter((each) => names.length === 0 || names.includes(each))) {
  const sample = samples.find((each) => each.id === id);
  const row = rows.find((each) => each.id === id);
  counts.samples += 1;
  const problem = await problemOf(sample, row);
  const excused = row && 'excuse' in row.check && problem === undefined;
  counts[excused ? 'excused' : 'run'] += 1;
  if (problem !== undefined) counts.failed += 1;
  const result = excused ? 'excused' : problem === undefined ? 'ok' : 'FAILED';
  console.log(`${result.padEnd(8)} ${id.padEnd(14)} ${row?.about ?? ''}`);
  if (problem !== undefined) console.log(problem.replaceAll(/^/gm, '         '));
}
if (names.length === 0 && counts.run < 0.9 * counts.samples) {
  console.log('Fewer than 90 % of the samples are run.');
  process.exitCode = 1;
}
if (counts.failed > 0) process.exitCode = 1;
console.log(JSON.stringify(counts));

/** Undefined if the sample does what it should; with `--plant`, if its check notices the nonsense. */
async function problemOf(sample: Sample | undefined, row: Row | undefined): Promise<string | undefined> {
  if (!sample) return 'The documents no longer have this sample.';
  if (!row) return `The sample is not in the table; its digest is ${sample.digest}.`;
  if (sample.digest !== row.digest) return `The sample has changed: its digest is ${sample.digest}.`;
  if ('excuse' in row.check) return undefined;
  const given = plant ? { ...sample, text: nonsense[sample.kind] } : sample;
  using stack = new DisposableStack();
  try {
    await row.check.run(given, createSeeds(samples, rows, stack));
    return plant ? 'Nonsense passes the check.' : undefined;
  } catch (error) {
    if (plant) return undefined;
    return (error instanceof Error ? error.message : String(error)).split('\n').slice(0, 30).join('\n');
  }
}
