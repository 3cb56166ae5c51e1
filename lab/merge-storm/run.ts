/**
 * `npm run merge-storm [-- --seeds N] [--seed N] [--plant BUG|all]`: the merge queue of the driver with real git, real gates and real
 * worktrees. Agents are small programs; a person works on the same branch, and the driver is killed. Nothing may be lost,
 * the branch is green at the end or the run says why not, and no worktree is left that holds nothing. Prints a line
 * for each seed and one JSON line.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build, type Plugin } from 'esbuild';
import { ensureBuilt } from '../../scripts/ensure-built.ts';
import { chosenSeed } from '../../test/kit/seed.ts';
import { options } from '../options.ts';
import { inParallel } from '../parallel.ts';
import { planOf } from './plan.ts';
import { type Plant, planting, plants, stormsFor } from './plants.ts';
import { type Played, type Programs, play } from './play.ts';

const { seeds, seed, plant } = options({ seeds: 3, seed: '', plant: '' });
const first = chosenSeed(seed);
const atOnce = 3;
/** In which a planted bug must be found. */
const mostStorms = 12;
const root = join(import.meta.dirname, '..', '..');

ensureBuilt();
const folder = mkdtempSync(join(tmpdir(), 'stepfast-storm-driver-'));
// Nothing of the person at this machine reaches git.
Object.assign(process.env, { HOME: folder, GIT_CONFIG_NOSYSTEM: '1' });
const played: Played[] = [];
if (plant === '') await storm();
else await findPlanted(plants.filter((each) => plant === 'all' || each === plant));
rmSync(folder, { recursive: true });

async function storm(): Promise<void> {
  const programs = await programsWith();
  const plans = Array.from({ length: seeds }, (_, index) => planOf(first + index));
  await inParallel(plans.length, atOnce, async (number) => {
    const plan = plans[number];
    if (plan) await one(plan, programs);
  });
  const sum = (of: (each: Played) => number): number => played.reduce((total, each) => total + of(each), 0);
  const result = {
    seeds,
    tasks: sum(({ plan }) => plan.tasks.length),
    merged: sum(({ merged }) => merged),
    parked: sum(({ parked }) => parked),
    kills: sum(({ kills }) => kills),
    lost: sum(({ lost }) => lost.length),
    redAtEnd: sum(({ red }) => red.length),
    strandedWorktrees: sum(({ stranded }) => stranded.length),
  };
  console.log(JSON.stringify(result));
  process.exitCode = result.lost + result.redAtEnd + result.strandedWorktrees > 0 ? 1 : 0;
}

/** Each bug must be found. */
async function findPlanted(wanted: readonly Plant[]): Promise<void> {
  if (wanted.length === 0) throw new Error(`--plant is one of: ${plants.join(', ')}, all`);
  const found: Record<string, number | null> = {};
  for (const plant of wanted) {
    const programs = await programsWith(planting(plant));
    found[plant] = null;
    for (const plan of stormsFor(plant, first).slice(0, mostStorms)) {
      const { lost, red, stranded, left } = await play(plan, programs);
      if (left === undefined) continue;
      rmSync(left, { recursive: true, force: true });
      found[plant] = plan.seed;
      console.log(`${plant.padEnd(18)}found at seed ${plan.seed}: ${[...lost, ...red, ...stranded][0]}`);
      break;
    }
    if (found[plant] === null) console.log(`${plant.padEnd(18)}NOT FOUND`);
  }
  console.log(JSON.stringify({ planted: found }));
  process.exitCode = Object.values(found).includes(null) ? 1 : 0;
}

/** One file starts in a fraction of the time of many. */
async function programsWith(...plugins: Plugin[]): Promise<Programs> {
  const driver = join(folder, `driver-${plugins.length}-${Date.now()}.mjs`);
  await build({
    entryPoints: [join(import.meta.dirname, 'driver.ts')],
    outfile: driver,
    bundle: true,
    format: 'esm',
    platform: 'node',
    banner: {
      js: "import{createRequire as requireHere}from'node:module';const require=requireHere(import.meta.url);",
    },
    plugins,
    logLevel: 'warning',
  });
  return {
    cli: join(root, 'dist', 'cli.js'),
    driver,
    agent: join(import.meta.dirname, 'agent.sh'),
  };
}

async function one(plan: Played['plan'], programs: Programs): Promise<void> {
  const each = await play(plan, programs);
  played.push(each);
  const { merged, parked, failed, held, kills, wallMs } = each;
  const facts = [
    `seed ${plan.seed}`,
    `${(wallMs / 1000).toFixed(1)} s`,
    `${merged} merged`,
    `${parked} parked`,
    `${failed.conflict} conflicts`,
    `${failed.red} red`,
    `${kills} kills`,
    ...(held.length > 0 ? [`held: ${[...new Set(held)].join(' ')}`] : []),
    plan.hazards.join(' ') || 'calm',
  ];
  console.log(facts.join(', '));
  for (const reason of each.waits) console.log(`  waits: ${reason.split('\n')[0]?.slice(0, 200)}`);
  const wrong = [
    ...each.lost.map((what) => `lost: ${what}`),
    ...each.red.map((what) => `red: ${what}`),
    ...each.stranded.map((what) => `stranded: ${what}`),
  ];
  if (wrong.length === 0) return;
  for (const line of wrong.slice(0, 20)) console.log(`  ${line}`);
  console.log(`  its files are in ${each.left}`);
  console.log(`  npm run merge-storm -- --seeds 1 --seed ${plan.seed}`);
}
