import { expect, test } from 'vitest';
import { smallDefinition as definition, gatedDefinition } from '../../test/kit/contract-workflows.ts';
import { advance, engineContract, startSmall } from '../../test/kit/engine-contract.ts';
import { createMemoryStore } from '../../test/kit/memory-store.ts';
import { hashDefinition } from '../definition/index.ts';
import type { Definition } from '../machine/index.ts';
import type { Store } from '../store/index.ts';
import { createEngine, type Engine } from './engine.ts';

const engineOf = (store: Store): Engine => createEngine({ store, newRun: counted(), hashOf: hashDefinition });
const started = async (store: Store) => await startSmall(engineOf(store));

function counted(): () => string {
  let runs = 0;
  return () => `small-20261115-a${runs++}`;
}

engineContract('in-process', async () => engineOf(createMemoryStore()));

test('a run id that is taken is drawn again', async () => {
  const store = createMemoryStore();
  const first = createEngine({ store, newRun: counted(), hashOf: hashDefinition });
  await first.begin(definition, { type: 'start', now: 1 });
  const second = createEngine({ store, newRun: counted(), hashOf: hashDefinition });
  const { run } = await second.begin(definition, { type: 'start', now: 1 });
  expect(run).toBe('small-20261115-a1');
});

test('[S10] a key belongs to the principal that used it', async () => {
  const { engine, run } = await started(createMemoryStore());
  const note = { type: 'note', now: 5, kind: 'decision', text: 'Use SQLite' } as const;
  const by = (principal: string) => engine.execute(run, note, 'k', { principal });
  await by('one');
  await expect(by('two')).rejects.toMatchObject({ code: 'key_reused' });
  await expect(engine.execute(run, note, 'k')).rejects.toMatchObject({ code: 'key_reused' });
  expect((await by('one')).reply).toMatchObject({ replayed: true });
});

test('[S10] a key that was stored without what it was used for answers as before', async () => {
  const store = createMemoryStore();
  const { engine, run } = await started({
    ...store,
    append: (loaded, { fingerprint: _, ...entry }, state) => store.append(loaded, entry, state),
  });
  await engine.execute(run, { type: 'note', now: 5, kind: 'decision', text: 'Use SQLite' }, 'k');
  const repeated = await engine.execute(run, { type: 'cancel', now: 6 }, 'k', { principal: 'two' });
  expect(repeated).toMatchObject({ changed: false, reply: { replayed: true, status: 'running' } });
});

test('[C0] a repeated call is told as one even if its answer would write something', async () => {
  const engine = engineOf(createMemoryStore());
  const [make, ship] = gatedDefinition.steps;
  const cleared = { ...gatedDefinition, steps: [make, { ...ship, context: 'clear' }] } as Definition;
  const { run, reply } = await engine.begin(cleared, { type: 'start', now: 1, session: 'A' });
  const command = { ...advance(('at' in reply && reply.at) || '', 'mine'), session: 'A' };
  const first = await engine.execute(run, command, 'k');
  const id = ('checking' in first.reply && first.reply.checking?.id) || '';
  const receipts = [{ gate: 0, pass: true }];
  await engine.execute(run, { type: 'gatesFinished', now: 3, actor: { kind: 'engine' }, id, receipts });
  const again = await engine.execute(run, command, 'k');
  expect(again).toMatchObject({ changed: false, repeated: true });
  expect(again.reply).toEqual({ ...first.reply, replayed: true });
});

test('a conflict that never ends is given up with advice', async () => {
  const store = createMemoryStore();
  const { run, at } = await started(store);
  const engine = createEngine({
    store: { ...store, append: async () => 'conflict' },
    newRun: counted(),
    hashOf: hashDefinition,
  });
  await expect(engine.execute(run, advance(at, 'x'))).rejects.toMatchObject({ code: 'busy' });
});

test('[S7] a run is locked for a command that lost once', async () => {
  const store = createMemoryStore();
  const { run, at } = await started(store);
  let lost = 0;
  const append = async () => {
    lost += 1;
    return 'conflict' as const;
  };
  const engine = createEngine({
    store: { ...store, recent: () => undefined, append, locked: (_run, action) => action(store) },
    newRun: counted(),
    hashOf: hashDefinition,
  });
  expect(await engine.execute(run, advance(at, 'x'))).toMatchObject({ changed: true });
  expect(lost).toBe(1);
});

test('words beyond 256 KB are not kept', async () => {
  const store = createMemoryStore();
  const { run, at } = await started(store);
  const kept: string[] = [];
  const engine = createEngine({
    store: {
      ...store,
      keep: async (_, text) => {
        kept.push(text);
        return { opening: '', digest: '', bytes: 0 };
      },
    },
    newRun: counted(),
    hashOf: hashDefinition,
  });
  const { reply } = await engine.execute(run, advance(at, 'x'.repeat(256 * 1024 + 1)));
  expect(reply).toMatchObject({ code: 'bad_output' });
  expect(kept).toEqual([]);
});
