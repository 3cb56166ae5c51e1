import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDatabase, type TestDatabase } from '../../../test/kit/database.ts';
import { action, workflow } from '../../../test/kit/run.ts';
import { hashDefinition } from '../../definition/index.ts';
import { createEngine, newRun } from '../../engine/index.ts';
import type { PageSource, RowChange } from '../../runtime/index.ts';
import { createPostgres } from '../../store/postgres/index.ts';
import { createDatabasePages } from './database-pages.ts';

const definition = workflow([action('plan', { title: 'Plan', review: { by: 'human' } }), action('build')]);
let database: TestDatabase;
beforeAll(async () => {
  database = await openDatabase();
});
afterAll(async () => await database?.[Symbol.asyncDispose]());

async function createProject() {
  const { postgres } = database;
  const project = await database.project();
  const engine = createEngine({ store: postgres.store(project), newRun, hashOf: hashDefinition });
  let now = 1_800_000_000_000;
  const start = async (summary: string) => {
    now += 1000;
    return (await engine.begin(definition, { type: 'start', now, summary })).run;
  };
  const execute = async (run: string, command: object) => {
    now += 1000;
    const sent = { now, ...command } as Parameters<typeof engine.execute>[1];
    return await engine.execute(run, sent);
  };
  return { project, engine, pages: createDatabasePages(postgres, engine, project), start, execute };
}

const ids = async (pages: PageSource, request: object): Promise<string[]> =>
  (await pages.rows({ offset: 0, limit: 100, ...request })).rows.map(({ run }) => run);

test('rows of runs that were there before anyone looked, and of those that change afterwards', async () => {
  const { pages, start, execute, engine } = await createProject();
  const runs: string[] = [];
  for (let index = 0; index < 30; index += 1) runs.push(await start(`Work ${index} of Ä%_ kind`));
  const newestFirst = runs.toReversed();
  expect(await ids(pages, {})).toEqual(newestFirst);
  expect(await ids(pages, { offset: 10, limit: 5 })).toEqual(newestFirst.slice(10, 15));
  expect(await pages.rows({ offset: 99, limit: 5 })).toEqual({ total: 30, rows: [] });
  expect(await pages.counts()).toMatchObject({ working: 30, person: 0 });
  expect(await ids(pages, { text: 'ä%_ KIND work' })).toHaveLength(30);
  expect(await ids(pages, { text: '7 WORK' })).toEqual(
    newestFirst.filter((run) => run.includes('7') || [7, 17, 27].includes(runs.indexOf(run))),
  );
  const [first = '', second = ''] = runs;
  await execute(second, { type: 'advance', output: 'Planned' });
  await execute(first, { type: 'advance', output: 'Planned, too' });
  await expect.poll(() => pages.counts()).toMatchObject({ working: 28, person: 2 });
  expect((await pages.needs(9)).map(({ run }) => run)).toEqual([second, first]);
  expect(await ids(pages, { tone: 'person' })).toEqual([second, first]);
  await execute(first, { type: 'review', verdict: 'approve', actor: { kind: 'person' } });
  await expect.poll(() => ids(pages, { tone: 'person' })).toEqual([second]);
  await engine.remove(second);
  await expect.poll(() => pages.counts()).toMatchObject({ working: 29, person: 0 });
});

test('two servers tell their readers of every change, whoever stores the rows', async () => {
  const { project, engine, pages, start, execute } = await createProject();
  const other = createPostgres({ url: database.url });
  try {
    const others = createDatabasePages(other, engine, project);
    const told: RowChange[][] = [[], []];
    const leave = [pages, others].map((each, index) => each.subscribe((change) => told[index]?.push(change)));
    const run = await start('Dark mode');
    await execute(run, { type: 'advance', output: 'Planned' });
    for (const changes of told)
      await expect
        .poll(() => changes.at(-1))
        .toMatchObject({
          row: { run, tone: 'person' },
        });
    for (const end of leave) end();
    expect(await ids(others, {})).toEqual([run]);
  } finally {
    await other.close();
  }
});

test('a cursor that the database does not know makes everything be read again', async () => {
  const { project, pages, start } = await createProject();
  const run = await start('Before');
  expect(await ids(pages, {})).toEqual([run]);
  const rows = database.postgres.rows(project);
  await rows.put([], '900000000000000000');
  const late = await start('After');
  const { engine } = await createProject();
  expect(await ids(createDatabasePages(database.postgres, engine, project), {})).toEqual([late, run]);
  // An older summary does not replace a newer one.
  const [stored] = (await rows.list({ words: [], offset: 0, limit: 1 })).bodies;
  const old = { run: late, seq: 0, tone: 'failed', createdAt: 1, searched: '', body: '{}' };
  await rows.put([old]);
  expect((await rows.list({ words: [], offset: 0, limit: 1 })).bodies).toEqual([stored]);
  await rows.put([{ ...old, run: 'gone-20261115-aaaaaaaa', seq: 9 }]);
  expect((await pages.rows({ offset: 0, limit: 9 })).total).toBe(2);
});
