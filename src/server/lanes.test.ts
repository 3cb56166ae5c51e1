import { expect, test } from 'vitest';
import { createLanes } from './lanes.ts';

test('only so much work of a name runs at a time, in order, and failures give their place back', async () => {
  const lanes = createLanes<string>(2);
  const order: number[] = [];
  let [busy, most] = [0, 0];
  const work = (number: number) => async (): Promise<void> => {
    busy += 1;
    most = Math.max(most, busy);
    order.push(number);
    await new Promise((resolve) => setTimeout(resolve, 1));
    busy -= 1;
    if (number % 3 === 0) throw new Error('planned');
  };
  const numbers = Array.from({ length: 20 }, (_, index) => index);
  await Promise.allSettled(numbers.map((number) => lanes('a', work(number))));
  expect([most, order]).toEqual([2, numbers]);
  expect(await lanes('a', async () => 'free')).toBe('free');
});
