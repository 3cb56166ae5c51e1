import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDatabase, type TestDatabase } from '../../../test/kit/database.ts';
import { createMemoryStore } from '../../../test/kit/memory-store.ts';
import { begin, mustLoad, noteCommand, sampleDefinition, send } from '../../../test/kit/sample-run.ts';
import { hashDefinition } from '../../definition/index.ts';
import { createEngine, type Engine, type Executed, newRun } from '../../engine/index.ts';
import { StepfastError } from '../../errors.ts';
import type { Command, Definition } from '../../machine/index.ts';
import type { Loaded, Store } from '../store.ts';
import { createPostgres, type Postgres } from './index.ts';

let database: TestDatabase;
let other: Postgres;
beforeAll(async () => {
  database = await openDatabase();
  other = createPostgres({ url: database.url, max: 4 });
});
afterAll(async () => {
  await other.close();
  await database[Symbol.asyncDispose]();
});

const mustRecall = (store: Store, run: string): Loaded => {
  const recent = store.recent?.(run);
  if (!recent) throw new Error(`${run} is not remembered`);
  return recent;
};

test('what this server wrote last is what it remembers until it has ended, and another server does not', async () => {
  const project = await database.project();
  const store = database.postgres.store(project);
  await begin(store, 'a-run');
  expect(store.recent?.('a-run')).toEqual(await mustLoad(store, 'a-run'));
  const first = mustRecall(store, 'a-run');
  await send(store, first, noteCommand(first, 'one'));
  expect(store.recent?.('a-run')).toEqual(await mustLoad(store, 'a-run'));
  expect(other.store(project).recent?.('a-run')).toBeUndefined();
  expect(database.postgres.store(await database.project()).recent?.('a-run')).toBeUndefined();
  await store.remove('a-run');
  expect(store.recent?.('a-run')).toBeUndefined();
  await begin(store, 'b-run');
  const second = mustRecall(store, 'b-run');
  const actor = { kind: 'person', name: 'ann' } as const;
  await send(store, second, { type: 'cancel', now: second.state.updatedAt + 1, actor });
  expect(store.recent?.('b-run')).toBeUndefined();
});

test('cached runs are immutable', async () => {
  const store = database.postgres.store(await database.project());
  await begin(store, 'own-run');
  const recent = mustRecall(store, 'own-run');
  expect(() => {
    recent.state.summary = 'changed';
  }).toThrow(TypeError);
  expect(() => recent.definition.steps.pop()).toThrow(TypeError);
});

test('what is old is a conflict that tells what is now', async () => {
  const project = await database.project();
  const [here, there] = [database.postgres.store(project), other.store(project)];
  await begin(here, 'old-run');
  const loaded = await mustLoad(there, 'old-run');
  await send(there, loaded, noteCommand(loaded, 'there'));
  const old = mustRecall(here, 'old-run');
  expect(await send(here, old, noteCommand(old, 'here'))).toBe('conflict');
  expect(here.recent?.('old-run')).toEqual(await mustLoad(there, 'old-run'));
});

test('a run that is gone, or was made anew under its name, is a conflict', async () => {
  const project = await database.project();
  const [here, there] = [database.postgres.store(project), other.store(project)];
  await begin(here, 'gone-run');
  const old = mustRecall(here, 'gone-run');
  await there.remove('gone-run');
  expect(await send(here, old, noteCommand(old, 'here'))).toBe('conflict');
  expect(here.recent?.('gone-run')).toBeUndefined();
  await begin(there, 'gone-run', { session: 'B' });
  expect(await send(here, old, noteCommand(old, 'here'))).toBe('conflict');
  expect(here.recent?.('gone-run')).toEqual(await mustLoad(there, 'gone-run'));
});

test('a key that was used before writes nothing, however fresh the run is', async () => {
  const store = database.postgres.store(await database.project());
  await begin(store, 'key-run');
  const first = mustRecall(store, 'key-run');
  await send(store, first, noteCommand(first, 'one'), { key: 'k', reply: 'first' });
  const second = mustRecall(store, 'key-run');
  await send(store, second, noteCommand(second, 'two'));
  const third = mustRecall(store, 'key-run');
  expect(await send(store, third, noteCommand(third, 'one'), { key: 'k', reply: 'again' })).toBe('conflict');
  expect(store.recent?.('key-run')).toBeUndefined();
  expect((await mustLoad(store, 'key-run', 'k')).repeated).toEqual({ reply: 'first' });
});

const start = Date.UTC(2026, 10, 15);
const engineOver = (store: Store): Engine => createEngine({ store, newRun, hashOf: hashDefinition });

/** A key that comes twice with two calls. */
function refusedKey(error: unknown): { reply: object } {
  if (error instanceof StepfastError && error.code === 'key_reused') return { reply: { code: error.code } };
  throw error;
}

/** Calls of two agents on two servers, with keys and handles that come twice. */
const calls = fc.array(
  fc.record({
    server: fc.nat(1),
    session: fc.constantFrom('A', 'B'),
    what: fc.constantFrom('advance', 'stale', 'note', 'status', 'long', 'cancel'),
    key: fc.option(fc.nat(5), { nil: undefined, freq: 3 }),
  }),
  { maxLength: 25 },
);

/** Hashes of versions are of one store alone. */
const stateIn = (executed: object & { view?: Executed['view'] }): object => ({
  ...executed,
  view: executed.view?.state,
});

test('two servers that remember answer as one that does not', async () => {
  await fc.assert(
    fc.asyncProperty(calls, async (sent) => {
      const project = await database.project();
      const servers = [database.postgres, other].map(({ store }) => engineOver(store(project)));
      const plain = engineOver(createMemoryStore());
      const told = await answers(sent, (server) => servers[server] ?? plain);
      expect(told).toStrictEqual(await answers(sent, () => plain));
    }),
    { numRuns: 60 },
  );

  async function answers(
    sent: readonly { server: number; session: string; what: string; key: number | undefined }[],
    engine: (server: number) => Engine,
  ): Promise<unknown[]> {
    const run = 'sample-20261115-zzzzzzzz';
    const opening = { type: 'start', now: start, session: 'A', summary: 'Sample' } as const;
    const once = { run, key: 'begin' };
    const told: unknown[] = [stateIn(await engine(0).begin(sampleDefinition, opening, {}, once))];
    let at: string | undefined;
    for (const [n, { server, session, what, key }] of sent.entries()) {
      const by = { now: start + n, session } as const;
      const command: Command =
        what === 'advance'
          ? { type: 'advance', ...by, output: `done ${n}`, ...(at === undefined ? {} : { at }) }
          : what === 'stale'
            ? { type: 'advance', ...by, output: 'done', at: 'zzzzzzzz:design/0#1' }
            : what === 'note'
              ? { type: 'note', ...by, kind: 'decision', text: `we decided ${n}` }
              : what === 'long'
                ? { type: 'advance', ...by, output: `${n} `.repeat(10_000) }
                : what === 'cancel'
                  ? { type: 'cancel', ...by, reason: 'enough', actor: { kind: 'person', name: 'ann' } }
                  : { type: 'status', ...by };
      const executed = await engine(server)
        .execute(run, command, key === undefined ? undefined : `k${key}`, { facts: {} })
        .catch(refusedKey);
      if ('at' in executed.reply && executed.reply.at !== undefined) at = executed.reply.at;
      told.push(stateIn(executed));
    }
    const view = await engine(0).view(run);
    told.push(
      view?.state,
      view?.version.seq,
      (await engine(1).entries(run)).map(({ events }) => events),
    );
    return told;
  }
});

test('many at once on two servers: every call is in the history once, however often it is sent', async () => {
  const project = await database.project();
  const servers = [database.postgres, other].map(({ store }) => engineOver(store(project)));
  const [first] = servers;
  if (!first) throw new Error('there are two');
  const run = 'sample-20261115-yyyyyyyy';
  const opening = { type: 'start', now: start, session: 'A', summary: 'Sample' } as const;
  await first.begin(sampleDefinition, opening, {}, { run, key: 'begin' });
  const told = await Promise.all(
    Array.from({ length: 60 }, async (_, n) => {
      const text = `note ${n % 20}`;
      const command = { type: 'note', now: start + n, session: 'A', kind: 'decision', text } as const;
      const executed = await servers[n % 2]?.execute(run, command, `k${n % 20}`);
      const { replayed: _replayed, ...reply } = { replayed: false, ...executed?.reply };
      return { key: `k${n % 20}`, changed: executed?.changed, reply };
    }),
  );
  const entries = (await first.entries(run)).filter(({ key }) => key?.startsWith('k'));
  expect(entries.map(({ key }) => key).sort()).toEqual(Array.from({ length: 20 }, (_, n) => `k${n}`).sort());
  expect(told.filter(({ changed }) => changed)).toHaveLength(20);
  for (const { key, reply } of told)
    expect(reply, key).toEqual(told.find((other) => other.key === key && other.changed)?.reply);
});

test('a run that is full still repeats its answers', async () => {
  const project = await database.project();
  const servers = [database.postgres, other].map(({ store }) => engineOver(store(project)));
  const [here] = servers;
  if (!here) throw new Error('there are two');
  const definition: Definition = {
    ...sampleDefinition,
    steps: [{ id: 'build', type: 'loop', loop: 'build' }],
    loops: { build: [{ id: 'code', instructions: 'Code it' }] },
  };
  const count = 4000;
  const fill = async (run: string, description: number, more: number): Promise<number> => {
    const by = { now: start, session: 'A' };
    await here.begin(definition, { type: 'start', ...by, summary: 'Sample' }, {}, { run, key: 'begin' });
    const tasks = Array.from({ length: count }, (_, n) => ({
      id: `t${n}`,
      title: 'T',
      description: 'd'.repeat(description + (n === 0 ? more : 0)),
    }));
    await here.execute(run, { type: 'setTasks', ...by, loop: 'build', tasks });
    return JSON.stringify((await here.view(run))?.state).length;
  };
  const room = 4 * 2 ** 20 - 700 - (await fill('sample-20261115-wwwwwwww', 1, 0));
  const run = 'sample-20261115-xxxxxxxx';
  await fill(run, 1 + Math.floor(room / count), room % count);
  const text = 'y'.repeat(390);
  const note = { type: 'note', now: start + 1, session: 'A', kind: 'decision', text } as const;
  expect(await here.execute(run, note, 'K')).toMatchObject({ changed: true });
  for (const engine of servers)
    expect(await engine.execute(run, note, 'K')).toMatchObject({ changed: false, reply: { replayed: true } });
  await expect(here.execute(run, note, 'another')).rejects.toMatchObject({ code: 'state_too_large' });
});

test('what was written under lock is not taken for what was seen last', async () => {
  const store = database.postgres.store(await database.project());
  await begin(store, 'lock-run');
  await store.locked?.('lock-run', async (within) => {
    expect(within.recent?.('lock-run')).toBeUndefined();
    const loaded = await mustLoad(within, 'lock-run');
    return send(within, loaded, noteCommand(loaded, 'locked'));
  });
  expect(store.recent?.('lock-run')).toBeUndefined();
});

test('a key of a run that is gone means nothing to one of the same name', async () => {
  const project = await database.project();
  const store = database.postgres.store(project);
  await begin(store, 'left-run');
  const first = mustRecall(store, 'left-run');
  await send(store, first, noteCommand(first, 'one'), { key: 'k', reply: 'first' });
  // As after a restore of a part.
  await database.sql(`delete from stepfast.runs where run = 'left-run'`);
  await database.sql(`delete from stepfast.events where run = 'left-run'`);
  await begin(store, 'left-run');
  expect((await mustLoad(store, 'left-run', 'k')).repeated).toBeUndefined();
  const second = mustRecall(store, 'left-run');
  expect(await send(store, second, noteCommand(second, 'two'), { key: 'k', reply: 'second' })).toMatchObject({
    seq: 2,
  });
});
