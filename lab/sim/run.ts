/**
 * Random histories of the real engine and the real file store on a simulated machine that fails:
 * `npm run sim [-- --histories N] [--seed N] [--only SEED] [--plant BUG|all]`.
 */
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { chosenSeed } from '../../test/kit/seed.ts';
import { type Plant, plants } from '../../test/sim/planted.ts';
import { type History, simulate } from '../../test/sim/simulate.ts';

interface Totals {
  histories: number;
  agents: number;
  crashes: number;
  calls: number;
  answers: number;
  batches: number;
  lostAcks: number;
  doubleAdvances: number;
  failed: { seed: number; what: string }[];
}

interface Work {
  first: number;
  count: number;
}

const chunk = 25;
const mostShown = 10;

const empty = (): Totals => ({
  histories: 0,
  agents: 0,
  crashes: 0,
  calls: 0,
  answers: 0,
  batches: 0,
  lostAcks: 0,
  doubleAdvances: 0,
  failed: [],
});

function add(totals: Totals, history: History): void {
  totals.histories += 1;
  for (const what of ['agents', 'crashes', 'calls', 'answers', 'batches'] as const)
    totals[what] += history[what];
  totals.lostAcks += history.findings.filter(({ kind }) => kind === 'lost').length;
  totals.doubleAdvances += history.findings.filter(({ kind }) => kind === 'twice').length;
  const [first] = history.findings;
  if (first) totals.failed.push({ seed: history.seed, what: first.what });
}

async function play({ first, count }: Work, plant: Plant | undefined): Promise<Totals> {
  const totals = empty();
  for (let seed = first; seed < first + count; seed += 1) {
    add(totals, await simulate(seed, plant ? { plant } : {}));
    if (plant && totals.failed.length > 0) break;
  }
  return totals;
}

/** Distributes chunks of seeds until all are played, or until `told` returns that it is enough. */
function playAll(
  seed: number,
  histories: number,
  plant: Plant | undefined,
  told: (totals: Totals) => boolean,
): Promise<Totals> {
  const totals = empty();
  let next = seed;
  const last = seed + histories;
  const workers = Math.min(availableParallelism(), Math.ceil(histories / chunk));
  return new Promise((resolve, reject) => {
    let running = workers;
    for (let index = 0; index < workers; index += 1) {
      const worker = new Worker(new URL(import.meta.url), { workerData: { plant } });
      const hand = (): void => {
        if (next < last) {
          worker.postMessage({ first: next, count: Math.min(chunk, last - next) });
          next += chunk;
          return;
        }
        void worker.terminate();
        running -= 1;
        if (running === 0) resolve(totals);
      };
      worker.on('error', reject).on('message', (part: Totals) => {
        for (const what of Object.keys(part)) merge(totals, part, what);
        if (told(totals)) next = last;
        hand();
      });
      hand();
    }
  });
}

function merge(totals: Totals, part: Totals, what: string): void {
  if (what === 'failed') totals.failed.push(...part.failed);
  // The other keys of Totals hold numbers.
  else totals[what as 'calls'] += part[what as 'calls'];
}

async function findPlants(named: readonly Plant[], seed: number, histories: number): Promise<void> {
  const found: Record<string, number | null> = {};
  for (const plant of named) {
    const totals = await playAll(seed, histories, plant, ({ failed }) => failed.length > 0);
    const [first] = totals.failed.sort((a, b) => a.seed - b.seed);
    found[plant] = first?.seed ?? null;
    console.log(
      first
        ? `${plant.padEnd(20)} found at seed ${first.seed}: ${first.what.slice(0, 120)}`
        : `${plant.padEnd(20)} NOT FOUND in ${histories} histories`,
    );
    if (!first) process.exitCode = 1;
  }
  console.log(JSON.stringify({ planted: found, seedBase: seed }));
}

async function replayOne(seed: number, plant: Plant | undefined): Promise<void> {
  const history = await simulate(seed, { log: (line) => console.log(line), ...(plant ? { plant } : {}) });
  for (const { kind, what } of history.findings) console.log(`${kind}: ${what}`);
  console.log(JSON.stringify({ ...history, findings: history.findings.length }));
  if (history.findings.length > 0) process.exitCode = 1;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      histories: { type: 'string' },
      seed: { type: 'string' },
      only: { type: 'string' },
      plant: { type: 'string' },
    },
  });
  const plant = plants.find((name) => name === values.plant);
  if (values.plant !== undefined && values.plant !== 'all' && !plant)
    throw new Error(`unknown planted bug '${values.plant}'. Use: all, ${plants.join(', ')}`);
  if (values.only !== undefined) return await replayOne(Number(values.only), plant);
  const seed = chosenSeed(values.seed);
  if (values.plant !== undefined)
    return await findPlants(plant ? [plant] : plants, seed, Number(values.histories ?? 10_000));
  const histories = Number(values.histories ?? 5_000);
  const started = performance.now();
  const seconds = (): number => (performance.now() - started) / 1000;
  let shown = 0;
  let named = 0;
  const totals = await playAll(seed, histories, undefined, (soFar) => {
    const due = Math.floor(seconds() / 15);
    if (due > shown)
      console.log(`${soFar.histories} histories, ${soFar.crashes} crashes, ${soFar.failed.length} failures`);
    shown = due;
    for (const failing of soFar.failed.slice(named, mostShown))
      console.log(`seed ${failing.seed}: ${failing.what}\n  npm run sim -- --only ${failing.seed}`);
    named = soFar.failed.length;
    return false;
  });
  for (const what of ['histories', 'agents', 'crashes', 'calls', 'answers', 'batches'] as const)
    console.log(`${what.padEnd(12)}${String(totals[what]).padStart(12)}`);
  console.log(`per second  ${(totals.histories / seconds()).toFixed(0).padStart(12)}`);
  const seeds = totals.failed.map((failing) => failing.seed).sort((a, b) => a - b);
  if (seeds.length > 0) console.log(`failing seeds: ${seeds.slice(0, 100).join(' ')}`);
  const { crashes, lostAcks, doubleAdvances } = totals;
  console.log(
    JSON.stringify({
      histories: totals.histories,
      crashes,
      lostAcks,
      doubleAdvances,
      failures: totals.failed.length,
      seconds: Number(seconds().toFixed(1)),
      seedBase: seed,
    }),
  );
  if (totals.failed.length > 0) process.exitCode = 1;
}

if (isMainThread) await main();
else {
  // workerData is what playAll gave.
  const { plant } = workerData as { plant: Plant | undefined };
  parentPort?.on('message', async (work: Work) => parentPort?.postMessage(await play(work, plant)));
}
