/**
 * What many advances of large runs leave on the disk: `npm run bench -- bloat [--advances N] [--runs N] [--tasks N]`. It
 * sends the store's append with the state of a real run, as fast as PostgreSQL takes it, with autovacuum as it comes.
 */
import { tmpdir } from 'node:os';
import { parseArgs } from 'node:util';
import pg from 'pg';
import type { Engine } from '../../src/engine/index.ts';
import type { Definition } from '../../src/machine/index.ts';
import { rounded, row } from '../figures.ts';
import { createTeam, type Team } from '../fleet/ground/team.ts';

const workflow: Definition = {
  name: 'large',
  description: 'Many tasks',
  steps: [{ id: 'work', type: 'loop', loop: 'work', parallel: 16 }],
  loops: { work: [{ id: 'do', instructions: 'Do it' }] },
};
const writers = 4;
const looks = 20;

interface Size {
  advances: number;
  seconds: number;
  tableMb: number;
  toastMb: number;
  indexesMb: number;
  vacuums: number;
}

export async function bench(asked = options()): Promise<object> {
  await using team = await createTeam({ parent: asked.directory, servers: 0 });
  const { run, state } = await makeRun(team.engine, asked.tasks);
  await copyRun(team, run, asked.runs);
  const first = await sizeOf(team, 0, 0);
  const stored = await storedBytes(team);
  console.log(
    `${asked.runs} runs of ${asked.tasks} tasks: ${Math.round(state.length / 1024)} KB of state, ${Math.round(stored / 1024)} KB stored`,
  );
  console.log(row(['advances', 'seconds', 'table', 'toast', 'indexes', 'vacuums']));
  const sizes: Size[] = [];
  const begun = performance.now();
  for (let done = 0; done < asked.advances; ) {
    const next = Math.min(asked.advances, done + Math.ceil(asked.advances / looks));
    await advance(team, state, asked.runs, done, next);
    done = next;
    const size = await sizeOf(team, done, (performance.now() - begun) / 1000);
    sizes.push(size);
    const { seconds, tableMb, toastMb, indexesMb, vacuums } = size;
    console.log(row([done, seconds, `${tableMb} MB`, `${toastMb} MB`, `${indexesMb} MB`, vacuums]));
  }
  const total = ({ tableMb, toastMb, indexesMb }: Size): number => tableMb + toastMb + indexesMb;
  const last = sizes.at(-1) ?? first;
  const later = sizes.slice(sizes.length >> 1).map(total);
  const writtenMb = (asked.advances * stored) / 2 ** 20;
  return {
    advances: asked.advances,
    runs: asked.runs,
    stateKb: Math.round(state.length / 1024),
    storedKb: Math.round(stored / 1024),
    writtenMb: Math.round(writtenMb),
    liveMb: rounded(total(first), 1),
    peakMb: rounded(Math.max(...sizes.map(total)), 1),
    endMb: rounded(total(last), 1),
    vacuums: last.vacuums,
    seconds: last.seconds,
    // The largest size in the second half relative to the first half: 1 if it does not grow.
    growth: rounded(Math.max(...later) / Math.max(...sizes.slice(0, sizes.length >> 1).map(total)), 2),
  };
}

/** A run in the middle of its work. */
async function makeRun(engine: Engine, tasks: number): Promise<{ run: string; state: string }> {
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

async function copyRun({ cluster, databaseName }: Team, run: string, runs: number): Promise<void> {
  const columns = 'began, hash, definition, status, live, created_ms, updated_ms, format, state';
  await cluster.query(
    databaseName,
    `insert into stepfast.runs (project, run, seq, ${columns})
      select project, '${prefix}' || n, 1, ${columns} from stepfast.runs, generate_series(10000000, $2::int) n
      where run = $1`,
    [run, 10_000_000 + runs - 1],
  );
  await cluster.query(databaseName, `update stepfast.runs set hash = 'h' where run like '${prefix}%'`);
  await cluster.query(databaseName, 'vacuum full stepfast.runs');
}

/** Each writer has its own runs. */
async function advance(team: Team, state: string, runs: number, from: number, to: number): Promise<void> {
  const { cluster, databaseName, project } = team;
  let next = from;
  const seqs = new Map<number, number>();
  for (const { run, seq } of await cluster.query<{ run: string; seq: number }>(
    databaseName,
    `select run, seq from stepfast.runs where run like '${prefix}%'`,
  ))
    seqs.set(Number(run.slice(prefix.length)) - 10_000_000, seq);
  await Promise.all(
    Array.from({ length: writers }, async (_, writer) => {
      const client = new pg.Client({ connectionString: cluster.url(databaseName) });
      await client.connect();
      for (let turn = 0; next < to; turn += 1) {
        next += 1;
        const index = (turn * writers + writer) % runs;
        const seq = (seqs.get(index) ?? 1) + 1;
        seqs.set(index, seq);
        // Another text each time, as long as the one before.
        const changed = state.replace(/"updatedAt":\d+/, `"updatedAt":${1_800_000_000_000 + next}`);
        const values = [project, nameOf(index), seq, 'h', 'h', '{}', null, null];
        const { rows } = await client.query({
          name: 'append',
          text: 'select (stepfast.append_1($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13)).done',
          values: [...values, 'running', true, next, 1, changed],
        });
        if (rows[0]?.done !== true) throw new Error(`${nameOf(index)} was not advanced`);
      }
      await client.end();
    }),
  );
}

async function storedBytes({ cluster, databaseName }: Team): Promise<number> {
  const [found] = await cluster.query<{ bytes: number }>(
    databaseName,
    'select avg(pg_column_size(state))::int as bytes from stepfast.runs',
  );
  return found?.bytes ?? 0;
}

async function sizeOf({ cluster, databaseName }: Team, advances: number, seconds: number): Promise<Size> {
  const [found] = await cluster.query<Omit<Size, 'advances' | 'seconds'>>(
    databaseName,
    `select pg_relation_size(c.oid) / 1048576.0 as "tableMb", pg_total_relation_size(t.oid) / 1048576.0 as "toastMb",
        pg_indexes_size(c.oid) / 1048576.0 as "indexesMb",
        (pg_stat_get_autovacuum_count(c.oid) + pg_stat_get_autovacuum_count(t.oid))::int as vacuums
      from pg_class c join pg_class t on t.oid = c.reltoastrelid where c.oid = 'stepfast.runs'::regclass`,
  );
  const mb = (value: unknown): number => rounded(Number(value), 1);
  return {
    advances,
    seconds: Math.round(seconds),
    tableMb: mb(found?.tableMb),
    toastMb: mb(found?.toastMb),
    indexesMb: mb(found?.indexesMb),
    vacuums: Number(found?.vacuums),
  };
}

function options(): { advances: number; runs: number; tasks: number; directory: string } {
  const { values } = parseArgs({
    options: {
      advances: { type: 'string', default: '100000' },
      runs: { type: 'string', default: '32' },
      tasks: { type: 'string', default: '1000' },
      directory: { type: 'string', default: tmpdir() },
    },
    allowPositionals: true,
  });
  const { advances, runs, tasks, directory } = values;
  return { advances: Number(advances), runs: Number(runs), tasks: Number(tasks), directory };
}
