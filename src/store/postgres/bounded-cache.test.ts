import { expect, test } from 'vitest';
import { createBoundedCache } from './bounded-cache.ts';

const of = (seq: number, size: number) => ({ seq, size });

test('the most recently used entries are kept', () => {
  const bounded = createBoundedCache<{ seq: number; size: number }>(100);
  bounded.set(1, 'a', of(1, 40));
  bounded.set(1, 'b', of(1, 40));
  expect(bounded.get(1, 'a')).toEqual(of(1, 40));
  bounded.set(1, 'c', of(1, 40));
  expect(bounded.has(1, 'b')).toBe(false);
  expect(bounded.get(1, 'b')).toBeUndefined();
  expect(bounded.get(1, 'a')).toBeDefined();
  bounded.set(1, 'a', of(2, 10));
  bounded.set(1, 'd', of(1, 50));
  expect(['a', 'c', 'd'].map((name) => bounded.get(1, name)?.seq)).toEqual([2, 1, 1]);
});

test('an entry larger than the cache is not kept and leaves room for others', () => {
  const bounded = createBoundedCache(100);
  bounded.set(1, 'huge', of(1, 101));
  expect(bounded.get(1, 'huge')).toBeUndefined();
  bounded.set(1, 'a', of(1, 100));
  expect(bounded.get(1, 'a')).toBeDefined();
});

test('the same name in another project is a different entry', () => {
  const bounded = createBoundedCache(100);
  bounded.set(1, 'a', of(1, 10));
  expect(bounded.get(2, 'a')).toBeUndefined();
  bounded.forget(2, 'a');
  expect(bounded.get(1, 'a')).toBeDefined();
  bounded.forget(1, 'a');
  expect(bounded.get(1, 'a')).toBeUndefined();
});
