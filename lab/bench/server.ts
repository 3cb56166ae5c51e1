/**
 * Cost of an advance on the team server: `npm run bench -- server [--rounds N] [--seconds N] [--runs N] [--write]
 * [--small]`. Ways to the same statements, in turn within every round: pgbench, engine and store in this
 * process, and two HTTP servers.
 */
import { statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { median, rounded, row } from '../figures.ts';
import { cpuOf, postmasterOf } from '../fleet/ground/cpu.ts';
import { createTeam, type Team } from '../fleet/ground/team.ts';
import { createBare } from './server/bare.ts';
import { drawGrowth, drawThroughput } from './server/drawings.ts';
import { clientCounts, type Figures, type Point, type Way, ways } from './server/figures.ts';
import { createHands, measureInProcess } from './server/in-process.ts';
import type { Measured } from './server/load.ts';
import { measureOverHttp } from './server/over-http.ts';
import { fill, makeTemplate, type Sample, sampleOf } from './server/runs.ts';

/** Of the ratios that are promised. */
const judged = 16;
const small = 1000;

const names: Record<Way, string> = {
  bare: 'pgbench: load, append',
  append: 'pgbench: append alone',
  inProcess: 'in process',
  http: 'two HTTP servers',
  either: 'either of two, at random',
};

export async function bench(asked = options()): Promise<object> {
  const { rounds, seconds, runs, directory } = asked;
  await using team = await createTeam({
    parent: directory,
    servers: 2,
    server: { args: ['--rate', '1000000'] },
  });
  await makeTemplate(team.engine);
  const sample = await sampleOf(team, small);
  describe(directory, sample, asked);

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
        console.error(
          `round ${round + 1}/${rounds}, ${clients} clients, ${names[way]}: ${measured.perSecond}/s`,
        );
      }
  const figures = summary(taken);
  print(figures);
  const cpu = Object.fromEntries(ways.map((way) => [way, printCost(way, costs[way])]));
  const ratio = (way: Way, to: Way = 'bare'): number => {
    const of = (which: Way): Measured[] => taken.get(`${which} ${judged}`) ?? [];
    const ratios = of(way).map(
      ({ perSecond }, round) => perSecond / (of(to)[round]?.perSecond ?? Number.NaN),
    );
    return rounded(median(ratios), 3);
  };
  const inProcessToBare = ratio('inProcess');
  const httpToBare = ratio('http');

  const growth = await measureGrowth(team, { rounds, seconds, runs });
  if (asked.write) {
    const docs = join(import.meta.dirname, '..', '..', 'docs');
    writeFileSync(join(docs, 'scale-throughput.svg'), drawThroughput(figures));
    writeFileSync(join(docs, 'scale-growth.svg'), drawGrowth(growth.points));
  }
  return {
    rounds,
    seconds,
    inProcessToBare,
    httpToBare,
    // The same the other way round, for limits.
    bareToInProcess: rounded(1 / inProcessToBare, 3),
    bareToHttp: rounded(1 / httpToBare, 3),
    eitherToBare: ratio('either'),
    inProcessToAppend: ratio('inProcess', 'append'),
    httpToAppend: ratio('http', 'append'),
    growth: growth.growth,
    growthAnywhere: growth.anywhere,
    runs,
    cpu,
    figures,
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

function printCost(way: Way, costs: readonly Spent[]): Spent {
  const database = Math.round(median(costs.map((cost) => cost.database)));
  const programs = Math.round(median(costs.map((cost) => cost.programs)));
  console.log(row([`CPU: ${names[way]}`, `${database} µs`, `${programs} µs`], 34));
  return { database, programs };
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
  return createBare(team.cluster, team.databaseName, sample).measure(way, clients, seconds);
}

/** Latency in process at 16 clients with few runs and with many, in two databases of one cluster. */
async function measureGrowth(
  team: Team,
  { rounds, seconds, runs }: { rounds: number; seconds: number; runs: number },
): Promise<{ growth: number; anywhere: number; points: Point[] }> {
  // No database is measured more than once.
  const sizes = [
    ...new Set([small, Math.max(small, Math.round(Math.sqrt(small * runs))), Math.max(small, runs)]),
  ];
  const grounds = [];
  for (const size of sizes) {
    const begun = performance.now();
    const database = await team.another(`runs_${size}`);
    await makeTemplate(database.engine);
    await fill(database, size, 3);
    await database.cluster.query(database.databaseName, 'checkpoint');
    console.error(`${size} runs filled in ${Math.round((performance.now() - begun) / 1000)} s`);
    const every = Math.floor(size / small);
    const handles = new Map<number, string>();
    grounds.push({
      size,
      database,
      spread: createHands(
        Array.from({ length: small }, (_, index) => index * every),
        handles,
      ),
      anywhere: createHands(shuffled(size), handles),
      taken: { spread: [] as Measured[], anywhere: [] as Measured[] },
    });
  }
  const size = { clients: judged, seconds, first: 0 };
  for (let round = 0; round < rounds; round += 1)
    for (const kind of ['spread', 'anywhere'] as const)
      for (const ground of grounds)
        ground.taken[kind].push(await measureInProcess(ground.database.engine, ground[kind], size));
  const [first] = grounds;
  const last = grounds.at(-1);
  const ratio = (kind: 'spread' | 'anywhere'): number =>
    rounded(
      median(
        (last?.taken[kind] ?? []).map(
          ({ p50 }, round) => p50 / (first?.taken[kind][round]?.p50 ?? Number.NaN),
        ),
      ),
      3,
    );
  const points = grounds.map(({ size, taken }) => ({
    runs: size,
    spread: middle(taken.spread),
    anywhere: middle(taken.anywhere),
  }));
  console.log(`\n${row(['runs in the database', 'p50', 'p99', 'anywhere', 'p99'])}`);
  for (const { runs: count, spread, anywhere } of points)
    console.log(
      row([
        count.toLocaleString('en'),
        `${spread.p50} ms`,
        `${spread.p99} ms`,
        `${anywhere.p50} ms`,
        `${anywhere.p99} ms`,
      ]),
    );
  for (const { database } of grounds) await database.close();
  return { growth: ratio('spread'), anywhere: ratio('anywhere'), points };
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

const middle = (all: readonly Measured[]): Measured => ({
  perSecond: Math.round(median(all.map(({ perSecond }) => perSecond))),
  p50: rounded(median(all.map(({ p50 }) => p50))),
  p99: rounded(median(all.map(({ p99 }) => p99))),
});

function summary(taken: ReadonlyMap<string, Measured[]>): Figures {
  const of = (way: Way): Record<number, Measured> =>
    Object.fromEntries(
      clientCounts.map((clients) => [clients, middle(taken.get(`${way} ${clients}`) ?? [])]),
    );
  return {
    bare: of('bare'),
    append: of('append'),
    inProcess: of('inProcess'),
    http: of('http'),
    either: of('either'),
  };
}

function describe(directory: string, { state, body, reply }: Sample, { rounds, seconds }: Asked): void {
  console.log(
    `PostgreSQL with fsync and synchronous_commit, its files on ${kindOf(directory)} (${directory});`,
  );
  console.log(
    `${small} runs with ${state.length} bytes of state; a batch of ${body.length} and a reply of ${reply.length} bytes.`,
  );
  console.log(
    'pgbench: load_1 and append_1 as the store sends them, prepared, as the superuser, so without row security;',
  );
  console.log(
    'in process: engine and store, row security; HTTP: two servers with tokens, validation, logs as well;',
  );
  console.log(
    'a server that wrote a run last appends without a look first, unless another wrote it meanwhile.',
  );
  console.log(`${rounds} rounds of ${seconds} s, all ways in turn; medians of rounds.\n`);
}

function kindOf(directory: string): string {
  const memory = 0x01021994;
  return statfsSync(directory).type === memory ? 'MEMORY (tmpfs), not a disk' : 'a disk';
}

function print(figures: Figures): void {
  const cells = (measured: Measured | undefined): string[] =>
    measured ? [`${measured.perSecond}/s`, `${measured.p50} ms`, `${measured.p99} ms`] : [];
  for (const clients of clientCounts) {
    console.log(row([`${clients} client${clients === 1 ? '' : 's'}`, 'advances', 'p50', 'p99'], 32));
    for (const way of ways) console.log(row([`  ${names[way]}`, ...cells(figures[way][clients])], 32));
  }
}

interface Asked {
  rounds: number;
  seconds: number;
  runs: number;
  write: boolean;
  directory: string;
}

function options(): Asked {
  const { values } = parseArgs({
    options: {
      rounds: { type: 'string' },
      seconds: { type: 'string' },
      runs: { type: 'string' },
      write: { type: 'boolean', default: false },
      small: { type: 'boolean', default: false },
      directory: { type: 'string', default: tmpdir() },
    },
    allowPositionals: true,
  });
  const { small: little, write, directory } = values;
  return {
    rounds: Number(values.rounds ?? (little ? 3 : 15)),
    seconds: Number(values.seconds ?? (little ? 1 : 2)),
    runs: Number(values.runs ?? (little ? 20_000 : 1_000_000)),
    write,
    directory,
  };
}
