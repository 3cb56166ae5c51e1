import { loadWorkflowTemplateFromString } from '../../src/definition/index.ts';
import type { Engine } from '../../src/engine/index.ts';
import type { TeamSite } from '../../test/kit/dashboard/site.ts';
import { begin, type Situation, situations } from '../../test/kit/dashboard/situations.ts';

const kinds: Situation[] = [
  'complete',
  'working',
  'complete',
  'review',
  'complete',
  'red',
  'failed',
  'tasks',
];
const templateName = 'Template summary';

/** Real runs of each kind, copied in the database until there are so many. */
export async function fillDatabase(site: TeamSite, runs: number): Promise<void> {
  const { cluster, name } = site.database;
  const ask = (sql: string) => cluster.query(name, sql);
  const templates: string[] = [];
  for (const kind of kinds) templates.push((await situations[kind](site.engine, templateName)).run);
  const list = templates.map((run) => `'${run}'`).join(', ');
  await ask(`create table public.templates as
    select row_number() over (order by array_position(array[${list}], run::text)) - 1 as number, right(run, 8) as suffix, *
    from stepfast.runs where run in (${list})`);
  const columns = (
    await cluster.query<{ name: string }>(
      name,
      `select attname as name from pg_attribute where attrelid = 'stepfast.runs'::regclass and attnum > 0
      and not attisdropped and attgenerated = '' and attidentity = ''`,
    )
  ).map((column) => column.name);
  const digits = `lpad(n::text, 8, '0')`;
  const words = `(array['Refuse negative counts', 'Show the tax in the cart', 'Ship to two addresses', 'Keep the cart for a week',
    'Pay by invoice', 'Say why a card was refused', 'Round prices once', 'Search by article number'])[1 + n % 8]`;
  const changed: Record<string, string> = {
    run: `replace(run, suffix, ${digits})`,
    state: `replace(replace(state, suffix, ${digits}), '${templateName}', ${words} || ' ' || n)`,
    created_ms: 'created_ms - n * 60000::bigint',
  };
  await ask(`insert into stepfast.runs (${columns.join(', ')})
    select ${columns.map((column) => changed[column] ?? column).join(', ')}
    from generate_series(1, ${runs}) n join public.templates t on t.number = n % ${kinds.length}`);
  await ask('vacuum analyze stepfast.runs');
}

const shop = loadWorkflowTemplateFromString(`
name: shop
description: Plan and build
steps:
  - { id: plan, type: action, title: Plan, instructions: Plan it., review: { by: human } }
  - { id: build, type: action, title: Build, instructions: Build it. }
`);
const summaries = [
  'Refuse negative counts',
  'Show the tax in the cart',
  'Ship to two addresses',
  'Pay by invoice',
];

/** Real runs in files. */
export async function fillFiles(engine: Engine, runs: number): Promise<void> {
  for (let number = 0; number < runs; number += 1) {
    const { send, person } = await begin(engine, shop, { summary: `${summaries[number % 4]} ${number}` });
    if (number % 3 === 0) continue;
    if (number % 20 === 1) await send({ type: 'advance', output: 'Planned' });
    if (number % 20 === 2) await person({ type: 'cancel', reason: 'Not wanted' });
  }
}

const long = loadWorkflowTemplateFromString(`
name: migrate
description: Rounds, then many tasks
loops:
  build:
    - { id: code, title: Write it, instructions: Write the code., gate: [{ run: npm test }] }
    - { id: check, title: Check it, instructions: Check it. }
steps:
  - { id: polish, type: ralph, n: 400, title: Polish, instructions: Make it better., gate: [{ run: npm test }] }
  - { id: build, type: loop, title: Build, parallel: 8 }
  - { id: close, type: action, title: Close, instructions: Close it. }
`);

/** A run with so many tasks, which depend on each other, and events. */
export async function playLongRun(
  engine: Engine,
  { tasks, events, rounds }: { tasks: number; events: number; rounds: number },
): Promise<string> {
  const definition = {
    ...long,
    steps: long.steps.map((step) => (step.id === 'polish' ? { ...step, n: rounds } : step)),
  };
  const played = await begin(engine, definition, {
    summary: 'Move all articles to the new catalog',
    session: 'one',
  });
  const tail = Array.from({ length: 40 }, (_, line) => `ok ${line} - src/catalog/part-${line}.test.ts`).join(
    '\n',
  );
  for (let round = 0; round < rounds; round += 1) {
    await played.send({ type: 'advance', output: `Round ${round}: better`, session: 'one' });
    await played.gates('green', tail);
  }
  const known = (await engine.entries(played.run)).reduce((sum, entry) => sum + entry.events.length, 0);
  for (let count = known; count < events - 20; count += 1)
    await played.send({ type: 'spend', tokens: 900, session: 'one' });
  const list = Array.from({ length: tasks }, (_, number) => ({
    id: `t${number}`,
    title: `Move the articles of part ${number}`,
    ...(number >= 10 ? { depends_on: [`t${number - 10}`] } : {}),
  }));
  await played.send({ type: 'setTasks', loop: 'build', tasks: list, session: 'one' });
  for (const holder of ['a', 'b', 'c']) await played.send({ type: 'claim', holder, session: holder });
  return played.run;
}
