import fc from 'fast-check';
import type { Loaded, Store } from '../../src/store/store.ts';
import { begin, noteCommand, send } from './sample-run.ts';

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

/** Random calls for which any two stores return the same results. */
export const storeCalls = fc.array(step, { maxLength: 25 });

/** The results of the calls, without hashes, which differ between stores. */
export async function storeAnswers(open: () => Store, calls: Step[]): Promise<unknown[]> {
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
  for (const each of calls) given.push(await play(each));
  for (const each of runs) given.push(await store.load(each), await store.entries(each));
  return JSON.parse(JSON.stringify(given, (name, value) => (name === 'hash' ? undefined : value)));
}
