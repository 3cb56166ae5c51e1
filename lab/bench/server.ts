/**
 * Cost of an advance on the team server: `npm run bench -- server [--small] [--rounds N] [--write]`. Ways to the same
 * statements, in turn within every round: pgbench as the superuser, engine and store in this process with row-level
 * security, and two HTTP servers with tokens, validation and logs as well.
 */
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { median, printTable, rounded } from '../figures.ts';
import { cpuOf, postmasterOf } from '../fleet/ground/cpu.ts';
import { createTeam, type Team } from '../fleet/ground/team.ts';
import { options } from '../options.ts';
import { createHands, measureInProcess, measureOverHttp } from './server/advances.ts';
import { measureBare } from './server/bare.ts';
import { drawGrowth, drawThroughput } from './server/drawings.ts';
import {
  clientCounts,
  type Figures,
  type Measured,
  middle,
  type Point,
  type Way,
  ways,
} from './server/load.ts';
import { fill, makeTemplate, type Sample, sampleOf } from './server/runs.ts';

/** Clients for the ratios that are promised. */
const judged = 16;
const small = 1000;

export async function bench(): Promise<object> {
  const asked = options({ small: false, rounds: 0, write: false });
  const rounds = asked.rounds || (asked.small ? 3 : 15);
  const seconds = asked.small ? 1 : 2;
  const runs = asked.small ? 20_000 : 1_000_000;
  const server = { args: ['--rate', '1000000'] };
  await using team = await createTeam({ parent: tmpdir(), servers: 2, server });
  await makeTemplate(team.engine);
  const sample = await sampleOf(team, small);

  // Warms up the JIT for HTTP clients, servers and the engine.
  for (const way of ['inProcess', 'http'] as const) {
    await fill(team, small);
    await measure(team, sample, way, judged, Math.max(3, seconds));
  }
  const taken = new Map<string, Measured[]>();
  const costs: Record<Way, Spent[]> = { bare: [], append: [], inProcess: [], http: [], either: [] };
  for (let round = 0; round < rounds; round += 1)
    for (const clients of clientCounts)
      for (const way of ways) {
        await fill(team, small);
        const before = spent(team);
        const measured = await measure(team, sample, way, clients, seconds);
        if (clients === judged) costs[way].push(await costOf(team, before));
        const key = `${way} ${clients}`;
        taken.set(key, [...(taken.get(key) ?? []), measured]);
        console.error(`round ${round + 1}/${rounds}, ${key} clients: ${measured.perSecond}/s`);
      }
  const of = (way: Way, clients = judged): Measured[] => taken.get(`${way} ${clients}`) ?? [];
  const figures = Object.fromEntries(
    ways.map((way) => [
      way,
      Object.fromEntries(clientCounts.map((count) => [count, middle(of(way, count))])),
    ]),
  ) as Figures;
  /** Microseconds of an advance. */
  const cpu = Object.fromEntries(
    ways.map((way) => {
      const middleOf = (part: keyof Spent) => Math.round(median(costs[way].map((cost) => cost[part])));
      return [way, { database: middleOf('database'), programs: middleOf('programs') }];
    }),
  );
  printTable([
    ['way, clients', 'a second', 'p50 ms', 'p99 ms'],
    ...ways.flatMap((way) =>
      Object.entries(figures[way]).map(([clients, { perSecond, p50, p99 }]) => [
        `${way} ${clients}`,
        perSecond,
        p50,
        p99,
      ]),
    ),
    ['CPU of an advance', 'database µs', 'programs µs'],
    ...Object.entries(cpu).map(([way, { database, programs }]) => [way, database, programs]),
  ]);
  /** The median of ratios of throughput per round. */
  const ratio = (way: Way, to: Way): number =>
    rounded(
      median(of(way).map(({ perSecond }, round) => perSecond / (of(to)[round]?.perSecond ?? Number.NaN))),
      3,
    );
  const growth = await measureGrowth(team, { rounds, seconds, runs });
  if (asked.write) {
    const docs = join(import.meta.dirname, '../../docs');
    writeFileSync(join(docs, 'scale-throughput.svg'), drawThroughput(figures));
    writeFileSync(join(docs, 'scale-growth.svg'), drawGrowth(growth.points));
  }
  return {
    ...{ rounds, seconds, runs },
    ...{ bareToInProcess: ratio('bare', 'inProcess'), bareToHttp: ratio('bare', 'http') },
    ...{ inProcessToBare: ratio('inProcess', 'bare'), httpToBare: ratio('http', 'bare') },
    eitherToBare: ratio('either', 'bare'),
    ...{ inProcessToAppend: ratio('inProcess', 'append'), httpToAppend: ratio('http', 'append') },
    ...{ growth: growth.spread, growthAnywhere: growth.anywhere, cpu, figures },
  };
}

/** CPU time of PostgreSQL, and of this process and everything else it started. */
interface Spent {
  database: number;
  programs: number;
}

function spent({ cluster }: Team): Spent {
  const database = cpuOf(postmasterOf(cluster.directory));
  return { database, programs: cpuOf(process.pid) - database };
}

/** Microseconds an advance since then; `fill` gave every run one batch. */
async function costOf(team: Team, before: Spent): Promise<Spent> {
  const after = spent(team);
  const [row] = await team.cluster.query<{ advances: number }>(
    team.databaseName,
    'select (sum(seq) - count(*))::int as advances from stepfast.runs',
  );
  const each = 1000 / Math.max(1, row?.advances ?? 1);
  return {
    database: Math.round((after.database - before.database) * each),
    programs: Math.round((after.programs - before.programs) * each),
  };
}

async function measure(
  team: Team,
  sample: Sample,
  way: Way,
  clients: number,
  seconds: number,
): Promise<Measured> {
  const hands = createHands(Array.from({ length: small }, (_, index) => index));
  // A run's first advance in a server reads it, later ones do not: each is advanced once before.
  const size = { clients, seconds, first: Math.floor(small / clients) };
  if (way === 'inProcess') return measureInProcess(team.engine, hands, size);
  if (way === 'http' || way === 'either') return measureOverHttp(team, hands, size, way === 'either');
  return measureBare(team, sample, way, size);
}

/** Latency in process at 16 clients with few runs and with many, in databases of one cluster. */
async function measureGrowth(
  team: Team,
  { rounds, seconds, runs }: { rounds: number; seconds: number; runs: number },
): Promise<{ spread: number; anywhere: number; points: Point[] }> {
  const kinds = ['spread', 'anywhere'] as const;
  const grounds = [];
  for (const size of [small, Math.round(Math.sqrt(small * runs)), runs]) {
    const database = await team.another(`runs_${size}`);
    await makeTemplate(database.engine);
    await fill(database, size, 3);
    await database.cluster.query(database.databaseName, 'checkpoint');
    console.error(`${size} runs are filled in`);
    const every = Math.floor(size / small);
    const handles = new Map<number, string>();
    const indexes = Array.from({ length: small }, (_, index) => index * every);
    const hands = { spread: createHands(indexes, handles), anywhere: createHands(shuffled(size), handles) };
    grounds.push({ size, database, hands, taken: { spread: [] as Measured[], anywhere: [] as Measured[] } });
  }
  const load = { clients: judged, seconds, first: 0 };
  for (let round = 0; round < rounds; round += 1)
    for (const kind of kinds)
      for (const { taken, database, hands } of grounds)
        taken[kind].push(await measureInProcess(database.engine, hands[kind], load));
  const [first, last] = [grounds[0]?.taken, grounds.at(-1)?.taken];
  const ratio = (kind: (typeof kinds)[number]): number =>
    rounded(
      median((last?.[kind] ?? []).map(({ p50 }, at) => p50 / (first?.[kind][at]?.p50 ?? Number.NaN))),
      3,
    );
  const points = grounds.map(({ size, taken }) => ({
    runs: size,
    spread: middle(taken.spread),
    anywhere: middle(taken.anywhere),
  }));
  printTable([
    ['runs in the database', 'p50 ms', 'p99 ms', 'anywhere', 'p99 ms'],
    ...points.map(({ runs: count, spread, anywhere }) => [
      count,
      spread.p50,
      spread.p99,
      anywhere.p50,
      anywhere.p99,
    ]),
  ]);
  return { spread: ratio('spread'), anywhere: ratio('anywhere'), points };
}

/** Identical for every run of the bench. */
function shuffled(size: number): number[] {
  const all = Array.from({ length: size }, (_, index) => index);
  let seed = 1;
  for (let at = size - 1; at > 0; at -= 1) {
    seed = (seed * 48271) % 2147483647;
    const other = seed % (at + 1);
    [all[at], all[other]] = [all[other] ?? 0, all[at] ?? 0];
  }
  return all;
}
