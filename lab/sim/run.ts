/**
 * Random histories of the real engine and the real file store on a simulated machine that fails:
 * `npm run sim [-- --histories N] [--seed N] [--only SEED] [--plant BUG|all]`.
 */
import { availableParallelism } from 'node:os';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { chosenSeed } from '../../test/kit/seed.ts';
import { type Plant, plants } from '../../test/sim/planted.ts';
import { type History, simulate } from '../../test/sim/simulate.ts';
import { options } from '../options.ts';

const counted = ['agents', 'crashes', 'calls', 'answers', 'batches'] as const;
const none = {
  histories: 0,
  agents: 0,
  crashes: 0,
  calls: 0,
  answers: 0,
  batches: 0,
  lostAcks: 0,
  doubleAdvances: 0,
};

interface Totals {
  counts: typeof none;
  failed: { seed: number; what: string }[];
}

interface Work {
  first: number;
  count: number;
}

const chunk = 25;
const mostShown = 10;

const empty = (): Totals => ({ counts: { ...none }, failed: [] });

function add({ counts, failed }: Totals, { findings, ...history }: History): void {
  counts.histories += 1;
  for (const what of counted) counts[what] += history[what];
  counts.lostAcks += findings.filter(({ kind }) => kind === 'lost').length;
  counts.doubleAdvances += findings.filter(({ kind }) => kind === 'twice').length;
  const [first] = findings;
  if (first) failed.push({ seed: history.seed, what: first.what });
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
        for (const what of Object.keys(none) as (keyof typeof none)[])
          totals.counts[what] += part.counts[what];
        totals.failed.push(...part.failed);
        if (told(totals)) next = last;
        hand();
      });
      hand();
    }
  });
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
  const asked = options({ histories: 0, seed: '', only: -1, plant: '' });
  const plant = plants.find((name) => name === asked.plant);
  if (!['', 'all', plant].includes(asked.plant))
    throw new Error(`unknown planted bug '${asked.plant}'. Use: all, ${plants.join(', ')}`);
  if (asked.only >= 0) return await replayOne(asked.only, plant);
  const seed = chosenSeed(asked.seed);
  if (asked.plant !== '') return await findPlants(plant ? [plant] : plants, seed, asked.histories || 10_000);
  const histories = asked.histories || 5_000;
  const started = performance.now();
  const seconds = (): number => (performance.now() - started) / 1000;
  let shown = 0;
  let named = 0;
  const totals = await playAll(seed, histories, undefined, (soFar) => {
    const due = Math.floor(seconds() / 15);
    if (due > shown)
      console.log(
        `${soFar.counts.histories} histories, ${soFar.counts.crashes} crashes, ${soFar.failed.length} failures`,
      );
    shown = due;
    for (const failing of soFar.failed.slice(named, mostShown))
      console.log(`seed ${failing.seed}: ${failing.what}\n  npm run sim -- --only ${failing.seed}`);
    named = soFar.failed.length;
    return false;
  });
  const { counts } = totals;
  for (const what of ['histories', ...counted] as const)
    console.log(`${what.padEnd(12)}${String(counts[what]).padStart(12)}`);
  console.log(`per second  ${(counts.histories / seconds()).toFixed(0).padStart(12)}`);
  const seeds = totals.failed.map((failing) => failing.seed).sort((a, b) => a - b);
  if (seeds.length > 0) console.log(`failing seeds: ${seeds.slice(0, 100).join(' ')}`);
  const { crashes, lostAcks, doubleAdvances } = counts;
  const result = { histories: counts.histories, crashes, lostAcks, doubleAdvances };
  const more = { failures: totals.failed.length, seconds: Number(seconds().toFixed(1)), seedBase: seed };
  console.log(JSON.stringify({ ...result, ...more }));
  if (totals.failed.length > 0) process.exitCode = 1;
}

if (isMainThread) await main();
else {
  // workerData is what playAll gave.
  const { plant } = workerData as { plant: Plant | undefined };
  parentPort?.on('message', async (work: Work) => parentPort?.postMessage(await play(work, plant)));
}
