import { expect, test } from 'vitest';
import { turnFor } from './turn-for.ts';

const large = 1_000_000;

/** The turn of the event loop that each of them came in. */
async function turnsOf(lengths: readonly number[]): Promise<number[]> {
  let turn = 0;
  let isOver = false;
  const count = (): void => {
    turn += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const turns = await Promise.all(lengths.map(async (length) => await turnFor(length).then(() => turn)));
  isOver = true;
  return turns;
}

test('large texts have turns of their own', async () => {
  const turns = await turnsOf(Array(20).fill(large));
  expect(new Set(turns).size).toBe(20);
  expect(turns).toEqual(turns.toSorted((one, other) => one - other));
});

test('a small text does not wait for large ones', async () => {
  const [, , small] = await turnsOf([large, large, 10]);
  expect(small).toBe(0);
});
