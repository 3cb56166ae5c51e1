import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createMemoryStore } from '../memory.ts';
import { begin, noteCommand, send } from '../sample-run.ts';
import type { Loaded, Store } from '../store.ts';
import { openStore, temporaryDirectory } from './temporary.ts';

const runs = ['run-a', 'run-b'];
const run = fc.constantFrom(...runs);
const text = fc.oneof(fc.string({ unit: 'binary', maxLength: 20 }), fc.constantFrom('a', 'b'));
const key = fc.option(fc.constantFrom('k1', 'k2', '__proto__'), { nil: undefined });

const step = fc.oneof(
  fc.record({ do: fc.constant('begin' as const), run }),
  fc.record({ do: fc.constant('load' as const), run, key }),
  fc.record({ do: fc.constant('append' as const), run, text, key, stale: fc.boolean() }),
  fc.record({ do: fc.constant('keep' as const), run, text }),
  fc.record({ do: fc.constant('list' as const) }),
  fc.record({ do: fc.constant('entries' as const), run, after: fc.nat(4) }),
  fc.record({ do: fc.constant('remove' as const), run }),
  fc.record({ do: fc.constant('reopen' as const) }),
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** What a store answers to the steps; hashes are each store's own. */
async function answers(open: () => Store, steps: Step[]): Promise<unknown[]> {
  let store = open();
  const old = new Map<string, Loaded>();
  const play = async (each: Step): Promise<unknown> => {
    switch (each.do) {
      case 'begin':
        return begin(store, each.run);
      case 'load':
        return store.load(each.run, each.key);
      case 'append': {
        const loaded = each.stale ? old.get(each.run) : await store.load(each.run);
        if (!loaded) return 'nothing';
        old.set(each.run, loaded);
        const answered = each.key === undefined ? {} : { key: each.key, reply: { text: each.text } };
        return send(store, loaded, noteCommand(loaded, each.text || 'empty'), answered);
      }
      case 'keep': {
        const kept = await store.keep(each.run, each.text);
        return [kept, await store.text(each.run, kept.digest)];
      }
      case 'list':
        return [await store.list(), (await store.ids()).sort()];
      case 'entries':
        return store.entries(each.run, each.after);
      case 'remove':
        old.delete(each.run);
        return store.remove(each.run);
      case 'reopen':
        store = open();
        return undefined;
    }
  };
  const given: unknown[] = [];
  for (const each of steps) given.push(await play(each));
  for (const each of runs) given.push(await store.load(each), await store.entries(each));
  return JSON.parse(JSON.stringify(given, (name, value) => (name === 'hash' ? undefined : value)));
}

test('the file store and the memory store give the same answers to the same calls', async () => {
  const root = temporaryDirectory();
  let count = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      count += 1;
      const directory = join(root, `${count}`);
      const memory = createMemoryStore();
      expect(await answers(() => openStore(directory), steps)).toEqual(await answers(() => memory, steps));
    }),
    { numRuns: 60 },
  );
});
