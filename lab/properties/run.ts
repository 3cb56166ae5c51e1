/**
 * Random workflows and command sequences against the machine's invariants: `npm run properties [-- --runs N] [--seed N]
 * [--path P]`. The seed is 1, or a new one each time with STEPFAST_RANDOM_SEEDS=1.
 */
import { parseArgs } from 'node:util';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import fc from 'fast-check';
import { chosenSeed } from '../../test/kit/seed.ts';
import { checkRun } from '../../test/properties/invariants.ts';
import { workflow } from '../../test/properties/workflows.ts';

interface Work {
  runs: number;
  seed: number;
  path: string;
}

interface Result {
  events: Record<string, number>;
  failure?: string;
}

function play({ runs, seed, path }: Work): Result {
  const events: Record<string, number> = {};
  const property = fc.property(workflow, fc.nat(), fc.nat(60), (definition, dice, length) => {
    for (const { type } of checkRun(definition, dice, length)) events[type] = (events[type] ?? 0) + 1;
  });
  const outcome = fc.check(property, { numRuns: runs, seed, path });
  if (!outcome.failed) return { events };
  return {
    events,
    failure: `${outcome.errorInstance}\n${JSON.stringify(outcome.counterexample)}
  npm run properties -- --seed ${seed} --path ${outcome.counterexamplePath}`,
  };
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { runs: { type: 'string' }, seed: { type: 'string' }, path: { type: 'string', default: '' } },
  });
  const runs = Number(values.runs ?? 20_000);
  const seed = chosenSeed(values.seed);
  const started = performance.now();
  const { path } = values;
  // A path belongs to one seed.
  const workers = path === '' ? 2 : 1;
  const results = await Promise.all(
    Array.from({ length: workers }, (_, index) =>
      inWorker({ runs: Math.ceil(runs / workers), seed: seed + index, path }),
    ),
  );
  const seconds = (performance.now() - started) / 1000;
  const events: Record<string, number> = {};
  for (const result of results) {
    for (const [type, count] of Object.entries(result.events)) events[type] = (events[type] ?? 0) + count;
    if (result.failure !== undefined) console.error(result.failure);
  }
  for (const [type, count] of Object.entries(events).sort())
    console.log(`${type.padEnd(22)}${String(count).padStart(10)}`);
  const failed = results.filter((result) => result.failure !== undefined).length;
  const total = Object.values(events).reduce((sum, count) => sum + count, 0);
  console.log(JSON.stringify({ runs, seed, events: total, seconds: Number(seconds.toFixed(1)), failed }));
  if (failed > 0) process.exitCode = 1;
}

const inWorker = (work: Work): Promise<Result> =>
  new Promise((resolve, reject) => {
    const worker = new Worker(new URL(import.meta.url), { workerData: work });
    worker.once('message', resolve).once('error', reject);
  });

if (isMainThread) await main();
// workerData is what inWorker sent
else parentPort?.postMessage(play(workerData as Work));
