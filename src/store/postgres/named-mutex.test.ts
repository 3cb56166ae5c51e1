import { expect, test } from 'vitest';
import { createNamedMutex } from './named-mutex.ts';

test('actions of one name run one at a time in order, and other names run in parallel', async () => {
  const exclusive = createNamedMutex(60_000);
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

test('a failed action lets the next one run', async () => {
  const exclusive = createNamedMutex(60_000);
  const failing = exclusive('a', async () => {
    throw new RangeError('on purpose');
  });
  const next = exclusive('a', async () => 'in');
  await expect(failing).rejects.toBeInstanceOf(RangeError);
  expect(await next).toBe('in');
});

test('a timed-out caller leaves while the first action runs, and later callers still wait for it', async () => {
  const exclusive = createNamedMutex(20);
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

test('a timed-out caller never runs its action', async () => {
  const exclusive = createNamedMutex(1);
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
