/**
 * What many advances of large runs leave on the disk: `npm run bench -- bloat [--advances N]`. It sends
 * the store's append with the state of a real run, as fast as PostgreSQL takes it, with autovacuum as it comes.
 */
import { tmpdir } from 'node:os';
import pg from 'pg';
import type { Engine } from '../../src/engine/index.ts';
import type { Definition } from '../../src/machine/index.ts';
import { copyRows } from '../copy-rows.ts';
import { rounded, row } from '../figures.ts';
import { createTeam, type Team } from '../fleet/ground/team.ts';
import { options } from '../options.ts';

const workflow: Definition = {
  name: 'large',
  description: 'Many tasks',
  steps: [{ id: 'work', type: 'loop', loop: 'work', parallel: 16 }],
  loops: { work: [{ id: 'do', instructions: 'Do it' }] },
};
const writers = 4;
const looks = 20;

const runs = 32;
const tasks = 1000;

interface Size {
  tableMb: number;
  toastMb: number;
  indexesMb: number;
  vacuums: number;
}

export async function bench(): Promise<object> {
  const { advances } = options({ advances: 100_000 });
  await using team = await createTeam({ parent: tmpdir(), servers: 0 });
  const { run, state } = await makeRun(team.engine);
  await copyRun(team, run);
  const [{ bytes } = { bytes: 0 }] = await team.cluster.query<{ bytes: number }>(
    team.databaseName,
    'select avg(pg_column_size(state))::int as bytes from stepfast.runs',
  );
  const total = ({ tableMb, toastMb, indexesMb }: Size): number => rounded(tableMb + toastMb + indexesMb, 1);
  const live = total(await sizeOf(team));
  console.log(row(['advances', 'seconds', 'table', 'toast', 'indexes', 'vacuums']));
  const sizes: Size[] = [];
  const begun = performance.now();
  const seconds = (): number => Math.round((performance.now() - begun) / 1000);
  for (let done = 0; done < advances; ) {
    const next = Math.min(advances, done + Math.ceil(advances / looks));
    await advance(team, state, done, next);
    done = next;
    const size = await sizeOf(team);
    sizes.push(size);
    console.log(row([done, seconds(), ...Object.values(size)]));
  }
  const most = (some: readonly Size[]): number => Math.max(...some.map(total));
  const half = sizes.length >> 1;
  return {
    ...{ advances, runs, stateKb: Math.round(state.length / 1024), storedKb: Math.round(bytes / 1024) },
    ...{ writtenMb: Math.round((advances * bytes) / 2 ** 20), liveMb: live, peakMb: most(sizes) },
    ...{ vacuums: sizes.at(-1)?.vacuums, seconds: seconds() },
    // The largest size in the second half relative to the first half: 1 if it does not grow.
    growth: rounded(most(sizes.slice(half)) / most(sizes.slice(0, half)), 2),
  };
}

/** A run in the middle of its work. */
async function makeRun(engine: Engine): Promise<{ run: string; state: string }> {
  const caller = { now: Date.now(), session: 'planner' };
  const { run } = await engine.begin(workflow, { ...caller, type: 'start' });
  const list = Array.from({ length: tasks }, (_, index) => ({
    id: `task-${index}`,
    title: `Port module number ${index}`,
    description: 'Port it, run its tests, and say which of them were changed and why.',
  }));
  await engine.execute(run, { ...caller, type: 'setTasks', loop: 'work', tasks: list });
  for (let done = 0; done < tasks / 4; done += 1) {
    const session = `agent-${done}`;
    const { reply } = await engine.execute(run, { type: 'claim', holder: session, session, now: Date.now() });
    if ('code' in reply || reply.at === undefined) throw new Error('no task was claimed');
    const output = `Ported; ${done} tests pass, and the rest of the module was left as it was.`;
    await engine.execute(run, { type: 'advance', at: reply.at, session, output, now: Date.now() });
  }
  const view = await engine.view(run);
  return { run, state: JSON.stringify(view?.state) };
}

const prefix = 'large-20261118-';
const nameOf = (index: number): string => `${prefix}${10_000_000 + index}`;

async function copyRun({ cluster, databaseName }: Team, run: string): Promise<void> {
  const from = `stepfast.runs, generate_series(10000000, ${10_000_000 + runs - 1}) n where run = '${run}'`;
  const changed = { run: `'${prefix}' || n`, seq: '1', hash: "'h'" };
  await copyRows(cluster, databaseName, 'runs', changed, from);
  await cluster.query(databaseName, 'vacuum full stepfast.runs');
}

/** Each writer has its own runs. */
async function advance(team: Team, state: string, from: number, to: number): Promise<void> {
  const { cluster, databaseName, project } = team;
  let next = from;
  const versions = await cluster.query<{ run: string; seq: number }>(
    databaseName,
    `select run, seq from stepfast.runs where run like '${prefix}%'`,
  );
  const seqs = new Map(versions.map(({ run, seq }) => [run, seq]));
  await Promise.all(
    Array.from({ length: writers }, async (_, writer) => {
      const client = new pg.Client({ connectionString: cluster.url(databaseName) });
      await client.connect();
      for (let turn = 0; next < to; turn += 1) {
        next += 1;
        const run = nameOf((turn * writers + writer) % runs);
        const seq = (seqs.get(run) ?? 1) + 1;
        seqs.set(run, seq);
        // Another text each time, as long as the one before.
        const changed = state.replace(/"updatedAt":\d+/, `"updatedAt":${1_800_000_000_000 + next}`);
        const values = [project, run, seq, 'h', 'h', '{}', null, null];
        const { rows } = await client.query({
          name: 'append',
          text: 'select (stepfast.append_1($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13)).done',
          values: [...values, 'running', true, next, 1, changed],
        });
        if (rows[0]?.done !== true) throw new Error(`${run} was not advanced`);
      }
      await client.end();
    }),
  );
}

async function sizeOf({ cluster, databaseName }: Team): Promise<Size> {
  const [found] = await cluster.query<Record<keyof Size, number>>(
    databaseName,
    `select pg_relation_size(c.oid) / 1048576.0 as "tableMb", pg_total_relation_size(t.oid) / 1048576.0 as "toastMb",
        pg_indexes_size(c.oid) / 1048576.0 as "indexesMb",
        (pg_stat_get_autovacuum_count(c.oid) + pg_stat_get_autovacuum_count(t.oid))::int as vacuums
      from pg_class c join pg_class t on t.oid = c.reltoastrelid where c.oid = 'stepfast.runs'::regclass`,
  );
  const [tableMb = 0, toastMb = 0, indexesMb = 0] = [found?.tableMb, found?.toastMb, found?.indexesMb].map(
    (value) => rounded(Number(value), 1),
  );
  return { tableMb, toastMb, indexesMb, vacuums: found?.vacuums ?? 0 };
}
