import { expect, test } from 'vitest';
import { createExclusive } from './one-at-a-time.ts';

test('one name is worked on by one at a time, in the order of asking, and another name beside it', async () => {
  const exclusive = createExclusive(60_000);
  const order: string[] = [];
  let release = (): void => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const first = exclusive('a', async () => {
    await held;
    order.push('first');
  });
  const second = exclusive('a', async () => order.push('second'));
  const third = exclusive('a', async () => order.push('third'));
  await exclusive('b', async () => order.push('beside'));
  release();
  await Promise.all([first, second, third]);
  expect(order).toEqual(['beside', 'first', 'second', 'third']);
});

test('the next one comes in after one that failed', async () => {
  const exclusive = createExclusive(60_000);
  const failing = exclusive('a', async () => {
    throw new RangeError('on purpose');
  });
  const next = exclusive('a', async () => 'in');
  await expect(failing).rejects.toBeInstanceOf(RangeError);
  expect(await next).toBe('in');
});

test('who has waited too long goes while the first is still at it, and the next ones still wait for that', async () => {
  const exclusive = createExclusive(20);
  const order: string[] = [];
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  const first = exclusive('a', async () => {
    await held;
    order.push('first');
  });
  await expect(exclusive('a', async () => order.push('never'))).rejects.toMatchObject({ code: 'store_busy' });
  const next = exclusive('a', async () => order.push('next')).catch(() => order.push('sent away'));
  expect(order).toEqual([]);
  release();
  await Promise.all([first, next]);
  expect(order[0]).toBe('first');
});

test('who has waited too long is sent away without having done anything', async () => {
  const exclusive = createExclusive(1);
  let done = false;
  const { promise, resolve } = Promise.withResolvers<void>();
  const slow = exclusive('a', () => promise);
  const late = exclusive('a', async () => {
    done = true;
  });
  await expect(late).rejects.toMatchObject({ code: 'store_busy' });
  resolve();
  await slow;
  expect(done).toBe(false);
});
