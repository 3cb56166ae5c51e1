import type { Engine } from '../../../src/engine/index.ts';
import type { Definition } from '../../../src/machine/index.ts';
import { copyRows } from '../../copy-rows.ts';
import type { Database } from '../../fleet/ground/team.ts';

export interface Sample {
  project: number;
  runs: number;
  body: string;
  reply: string;
  state: string;
  format: number;
}

export const definition: Definition = {
  name: 'bench',
  description: 'Many equal steps',
  inputs: { story: { type: 'string' } },
  steps: [{ id: 'go', type: 'ralph', n: 1000, instructions: 'Go on' }],
};

/** What every measured advance says. */
export const output = 'Done: the form keeps what was typed, and all tests are green.';

export const prefix = 'bench-20261115-';
/** Of the first run, so that all have eight digits. */
export const firstNumber = 10_000_000;
const template = `${prefix}zzzzzzzz`;
/** Bytes of a run's state when it is measured. */
const stateBytes = 4096;

export const runOf = (index: number): string => `${prefix}${firstNumber + index}`;
export const firstHandle = (index: number): string => `${firstNumber + index}:go/1#1`;

/** One real run of 4 KB, which `fill` copies. */
export async function makeTemplate(engine: Engine): Promise<void> {
  const start = { type: 'start', now: Date.now(), session: 'bench', summary: 'Measure' } as const;
  const once = { run: template, key: 'template' };
  await engine.remove(template);
  const bare = await engine.begin(definition, { ...start, inputs: { story: words(2000) } }, {}, once);
  const size = JSON.stringify((await engine.view(bare.run))?.state).length;
  await engine.remove(template);
  const story = words(2000 + stateBytes - size);
  await engine.begin(definition, { ...start, inputs: { story } }, {}, { ...once, key: 'template 4 KB' });
}

/** Text that compresses about as real notes do. */
function words(length: number): string {
  const from =
    'the form keeps what a person typed when a test of the server fails and says which of them did'.split(
      ' ',
    );
  let seed = 7;
  let text = '';
  while (text.length < length) {
    seed = (seed * 48271) % 2147483647;
    text += `${from[seed % from.length]}${seed % 11 === 0 ? ` ${seed % 9973}` : ''} `;
  }
  return text.slice(0, length);
}

/** What an advance of a run writes, taken from a real one. */
export async function sampleOf(
  { cluster, databaseName, engine, project }: Database,
  runs: number,
): Promise<Sample> {
  await engine.execute(template, { type: 'advance', now: Date.now(), session: 'bench', output }, 'sample');
  const [row] = await cluster.query<Omit<Sample, 'project' | 'runs'>>(
    databaseName,
    `select e.body, e.reply, r.state, r.format from stepfast.runs r
      join stepfast.events e on e.run = r.run and e.seq = r.seq where r.run = $1`,
    [template],
  );
  await makeTemplate(engine);
  if (!row) throw new Error('the sample was not written');
  return { ...row, project, runs };
}

/** Copies of the template, each with so many batches; nothing else is left in the tables but the template. */
export async function fill({ cluster, databaseName }: Database, runs: number, batches = 1): Promise<void> {
  const ask = (sql: string) => cluster.query(databaseName, sql);
  for (const table of ['runs', 'events'])
    await ask(
      `create table if not exists public.t_${table} as select * from stepfast.${table} where run = '${template}'`,
    );
  await ask('truncate stepfast.runs, stepfast.events, stepfast.keys cascade');
  const part = 50_000;
  for (let from = firstNumber; from < firstNumber + runs; from += part) {
    const numbers = `generate_series(${from}, ${Math.min(firstNumber + runs, from + part) - 1}) n`;
    const each = `${numbers} cross join generate_series(1, ${batches}) s`;
    const run = `'${prefix}' || n`;
    const state = `replace(state, 'zzzzzzzz', n::text)`;
    const copy = (table: string, changed: Record<string, string>, all: string) =>
      copyRows(cluster, databaseName, table, { run, ...changed }, `public.t_${table} cross join ${all}`);
    await copy('runs', { seq: `${batches}`, state }, numbers);
    await copy('events', { seq: 's' }, each);
    await ask(
      `insert into stepfast.keys (project, run, key, seq)
        select project, ${run}, md5(n || ' ' || s)::uuid, s from public.t_runs cross join ${each}`,
    );
  }
  for (const table of ['runs', 'events', 'keys']) await ask(`vacuum analyze stepfast.${table}`);
}
