import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDatabase, type TestDatabase } from '../../../test/kit/database.ts';
import { startTeam } from '../../../test/kit/server/remote.ts';
import { hashDefinition } from '../../definition/index.ts';
import { createEngine, createRemoteEngine, type Engine, newRun } from '../../engine/index.ts';
import { StepfastError } from '../../errors.ts';
import type { Definition } from '../../machine/index.ts';
import type { Store } from '../store.ts';
import { createPostgres, type Postgres } from './index.ts';

let database: TestDatabase;
let other: Postgres;
/** No call gives up because the machine is busy. */
const patient = { wait: 300_000, patience: 300_000, limit: 300_000 };

beforeAll(async () => {
  database = await openDatabase(patient);
  other = createPostgres({ url: database.url, max: 4, ...patient });
});
afterAll(async () => {
  await other.close();
  await database[Symbol.asyncDispose]();
});

const workflow: Definition = {
  name: 'fan',
  description: 'Tasks that many agents share',
  steps: [{ id: 'work', type: 'loop', loop: 'work', parallel: 64 }],
  loops: { work: [{ id: 'do', instructions: 'Do {task.title}' }] },
};

interface Counts {
  loads: number;
  appends: number;
  conflicts: number;
  locks: number;
}

/** An engine, and what it asks of its store. */
function counted(store: Store): { engine: Engine; counts: Counts } {
  const counts = { loads: 0, appends: 0, conflicts: 0, locks: 0 };
  const watched: Store = {
    ...store,
    load(...given) {
      counts.loads += 1;
      return store.load(...given);
    },
    async append(...given) {
      counts.appends += 1;
      const version = await store.append(...given);
      if (version === 'conflict') counts.conflicts += 1;
      return version;
    },
    locked(run, action) {
      counts.locks += 1;
      if (!store.locked) throw new Error('the store has a lock');
      return store.locked(run, action);
    },
  };
  return { engine: createEngine({ store: watched, newRun, hashOf: hashDefinition }), counts };
}

async function largeRun(engine: Engine, tasks = 1000): Promise<string> {
  const caller = { now: Date.now(), session: 'planner' };
  const { run } = await engine.begin(workflow, { ...caller, type: 'start' });
  const list = Array.from({ length: tasks }, (_, index) => ({
    id: `task-${index}`,
    title: `Port module number ${index}`,
    description: 'Port it, run its tests, and say which of them were changed and why.',
  }));
  await engine.execute(run, { ...caller, type: 'setTasks', loop: 'work', tasks: list });
  return run;
}

/** A call that waited too long for its turn is repeated, as clients do. */
async function claim(engine: Engine, run: string, session: string): Promise<string> {
  const command = { type: 'claim', holder: session, session, now: Date.now() } as const;
  const { reply } = await engine.execute(run, command, session).catch((error: unknown) => {
    if (error instanceof StepfastError && error.code === 'store_busy')
      return engine.execute(run, command, session);
    throw error;
  });
  if ('code' in reply || reply.at === undefined) throw new Error(JSON.stringify(reply));
  return reply.at;
}

test('[S7] 64 agents that claim tasks of one large run on a server write once each and lose no attempt', async () => {
  const { engine, counts } = counted(database.postgres.store(await database.project()));
  const run = await largeRun(engine);
  Object.assign(counts, { loads: 0, appends: 0 });
  const claimed = await Promise.all(
    Array.from({ length: 64 }, (_, index) => claim(engine, run, `a${index}`)),
  );
  expect(new Set(claimed).size).toBe(64);
  expect(counts).toEqual({ loads: 0, appends: 64, conflicts: 0, locks: 0 });
});

test('[S7] on two servers a large run is locked at the first conflict, and then for a while at once', async () => {
  const project = await database.project();
  const servers = [database.postgres, other].map((each) => counted(each.store(project)));
  const [first] = servers;
  if (!first) throw new Error('there are two');
  const run = await largeRun(first.engine);
  const claimed = await Promise.all(
    servers.flatMap(({ engine }, server) =>
      Array.from({ length: 24 }, (_, index) => claim(engine, run, `a${server}-${index}`)),
    ),
  );
  expect(new Set(claimed).size).toBe(48);
  // Each server finds out once that it is not alone.
  for (const { counts } of servers) expect(counts.conflicts).toBeLessThanOrEqual(1);
  expect((await first.engine.view(run))?.version.seq).toBe(50);
});

test('[S12] entries after a number cost what they return, and what they return is verified', async () => {
  const project = await database.project();
  const store = database.postgres.store(project);
  const engine = createEngine({ store, newRun, hashOf: hashDefinition });
  const { run } = await engine.begin(workflow, { type: 'start', now: 1 });
  for (let now = 2; now <= 40; now += 1)
    await engine.execute(run, { type: 'note', now, kind: 'decision', text: `note ${now}` });
  const all = await store.entries(run);
  expect(await store.entries(run, 38)).toEqual(all.slice(38));
  expect(await store.entries(run, 10, 5)).toEqual(all.slice(10, 15));
  const alter = (seq: number) =>
    database.sql(
      'update stepfast.events set body = body || $3 where project = $1 and run = $2 and seq = $4',
      [project, run, ' ', seq],
    );
  await alter(5);
  // What is not returned is not read.
  expect(await store.entries(run, 38)).toEqual(all.slice(38));
  await expect(store.entries(run)).rejects.toMatchObject({ code: 'store_corrupt' });
  await alter(40);
  await expect(store.entries(run, 38)).rejects.toMatchObject({ code: 'store_corrupt' });
});

test('[S12] lists have summaries, and do not read the states of runs that have not changed', async () => {
  await using team = await startTeam();
  const token = team.token('person');
  const get = async (path: string) =>
    await (await fetch(`${team.url}${path}`, { headers: { authorization: `Bearer ${token}` } })).text();
  const runs = [];
  for (let count = 0; count < 5; count += 1) runs.push(await largeRun(team.engine));
  const [first = ''] = runs;
  expect((await get(`/v1/runs/${first}`)).length).toBeGreaterThan(100_000);
  for (const path of ['/v1/runs', '/v1/rows', '/v1/overview', '/v1/runs?live=true'])
    expect((await get(path)).length, path).toBeLessThan(5 * 1000);
  await claim(team.engine, first, 'a1');
  const remote = createRemoteEngine({ url: team.url, token, patienceMs: 60_000 });
  const listed = await remote.list();
  expect(listed.map(({ run }) => run).sort()).toEqual([...runs].sort());
  expect(listed.find(({ run }) => run === first)).toMatchObject({
    state: { workflow: 'fan', status: 'running', step: 'work' },
    position: 'work/task-0/do',
    tone: 'working',
    tasks: { done: 0, total: 1000 },
  });
  expect(await remote.ids()).toHaveLength(5);
  // A state that cannot be read, behind a summary that is up to date.
  await team.query(`update stepfast.runs set state = '{'`);
  expect(await remote.list()).toEqual(listed);
  await team.query(`update stepfast.runs set format = 99, seq = seq + 1 where run = '${first}'`);
  expect((await remote.list()).find(({ run }) => run === first)).toEqual({
    run: first,
    problem: expect.any(String),
  });
});
