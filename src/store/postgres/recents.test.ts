import { expect, test } from 'vitest';
import type { State } from '../../machine/index.ts';
import { createRecents, type Recent } from './recents.ts';

const of = (seq: number, characters: number): Recent => ({
  version: { seq, hash: `h${seq}` },
  definition: 'd',
  size: characters,
  // Only frozen and handed back here.
  state: { variables: { seq } } as unknown as State,
});

test('what was used last is kept, as far as there is room', () => {
  const recents = createRecents(100);
  recents.set(1, 'a', of(1, 40));
  recents.set(1, 'b', of(1, 40));
  expect(recents.get(1, 'a')).toEqual(of(1, 40));
  recents.set(1, 'c', of(1, 40));
  expect(recents.get(1, 'b')).toBeUndefined();
  expect(recents.get(1, 'a')).toBeDefined();
  recents.set(1, 'a', of(2, 10));
  recents.set(1, 'd', of(1, 50));
  expect(['a', 'c', 'd'].map((run) => recents.get(1, run)?.version.seq)).toEqual([2, 1, 1]);
});

test('what is larger than all room is not kept, and leaves room for others', () => {
  const recents = createRecents(100);
  recents.set(1, 'huge', of(1, 101));
  expect(recents.get(1, 'huge')).toBeUndefined();
  recents.set(1, 'a', of(1, 100));
  expect(recents.get(1, 'a')).toBeDefined();
});

test('a run of another project is another run', () => {
  const recents = createRecents();
  recents.set(1, 'a', of(1, 10));
  expect(recents.get(2, 'a')).toBeUndefined();
  recents.forget(2, 'a');
  expect(recents.get(1, 'a')).toBeDefined();
  recents.forget(1, 'a');
  expect(recents.get(1, 'a')).toBeUndefined();
});

test('what is kept can be changed by nobody, however deep', () => {
  const recents = createRecents();
  recents.set(1, 'a', of(1, 10));
  const { variables } = recents.get(1, 'a')?.state ?? {};
  expect(variables).toEqual({ seq: 1 });
  expect(Object.isFrozen(variables)).toBe(true);
});
