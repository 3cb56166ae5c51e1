import { loadWorkflowTemplateFromString } from '../../src/definition/index.ts';
import type { Engine } from '../../src/engine/index.ts';
import type { TeamSite } from '../../test/kit/dashboard/site.ts';
import { begin, situations } from '../../test/kit/dashboard/situations.ts';
import { copyRows } from '../copy-rows.ts';

const { complete, working, review, red, failed, tasks } = situations;
const kinds = [complete, working, complete, review, complete, red, failed, tasks];
const summaries = [
  ...[
    'Refuse negative counts',
    'Show the tax in the cart',
    'Ship to two addresses',
    'Keep the cart for a week',
  ],
  ...['Pay by invoice', 'Say why a card was refused', 'Round prices once', 'Search by article number'],
];

/** Real runs of each kind in files. */
export async function fillFiles(engine: Engine, runs: number): Promise<void> {
  for (let number = 0; number < runs; number += 1)
    await kinds[number % kinds.length]?.(engine, `${summaries[number % summaries.length]} ${number}`);
}

const templateSummary = 'Template summary';

/** Real runs of each kind, copied in the database until there are so many. */
export async function fillDatabase(site: TeamSite, runs: number): Promise<void> {
  const { cluster, name } = site.database;
  const templates: string[] = [];
  for (const play of kinds) templates.push(`'${(await play(site.engine, templateSummary)).run}'`);
  const list = templates.join(', ');
  await cluster.query(
    name,
    `create table public.templates as
      select row_number() over (order by array_position(array[${list}], run::text)) - 1 as number, right(run, 8) as suffix, *
      from stepfast.runs where run in (${list})`,
  );
  const digits = `lpad(n::text, 8, '0')`;
  const words = `(array[${summaries.map((text) => `'${text}'`).join(', ')}])[1 + n % ${summaries.length}]`;
  const changed = {
    run: `replace(run, suffix, ${digits})`,
    state: `replace(replace(state, suffix, ${digits}), '${templateSummary}', ${words} || ' ' || n)`,
    created_ms: 'created_ms - n * 60000::bigint',
  };
  const from = `generate_series(1, ${runs}) n join public.templates t on t.number = n % ${kinds.length}`;
  await copyRows(cluster, name, 'runs', changed, from);
  await cluster.query(name, 'vacuum analyze stepfast.runs');
}

/** A run with so many tasks, which depend on each other, and events. */
export async function playLongRun(
  engine: Engine,
  { tasks: count, events, rounds }: { tasks: number; events: number; rounds: number },
): Promise<string> {
  const definition = loadWorkflowTemplateFromString(`
name: migrate
description: Rounds, then many tasks
loops:
  build:
    - { id: code, title: Write it, instructions: Write the code., gate: [{ run: npm test }] }
    - { id: check, title: Check it, instructions: Check it. }
steps:
  - { id: polish, type: ralph, n: ${rounds}, title: Polish, instructions: Make it better., gate: [{ run: npm test }] }
  - { id: build, type: loop, title: Build, parallel: 8 }
  - { id: close, type: action, title: Close, instructions: Close it. }
`);
  const session = 'one';
  const played = await begin(engine, definition, {
    summary: 'Move all articles to the new catalog',
    session,
  });
  const lines = Array.from({ length: 40 }, (_, line) => `ok ${line} - src/catalog/part-${line}.test.ts`);
  for (let round = 0; round < rounds; round += 1) {
    await played.send({ type: 'advance', output: `Round ${round}: better`, session });
    await played.gates('green', lines.join('\n'));
  }
  const known = (await engine.entries(played.run)).reduce((sum, entry) => sum + entry.events.length, 0);
  for (let spent = known; spent < events - 20; spent += 1)
    await played.send({ type: 'spend', tokens: 900, session });
  const list = Array.from({ length: count }, (_, number) => ({
    id: `t${number}`,
    title: `Move the articles of part ${number}`,
    ...(number >= 10 ? { depends_on: [`t${number - 10}`] } : {}),
  }));
  await played.send({ type: 'setTasks', loop: 'build', tasks: list, session });
  for (const holder of ['a', 'b', 'c']) await played.send({ type: 'claim', holder, session: holder });
  return played.run;
}
