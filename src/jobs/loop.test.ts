import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createLoop } from './loop.ts';

test('a loop starts immediately, never overlaps, and runs again after a kick during a round', async () => {
  let running = 0;
  let most = 0;
  let rounds = 0;
  const loop = createLoop(
    async () => {
      running += 1;
      most = Math.max(most, running);
      await sleep(5);
      running -= 1;
      rounds += 1;
    },
    { everyMs: 1e6, report: () => undefined },
  );
  loop.kick();
  loop.kick();
  while (rounds < 2) await sleep(1);
  await loop.stop();
  loop.kick();
  await sleep(20);
  expect([most, rounds]).toEqual([1, 2]);
});

test('an error is reported, and the loop continues after the interval', async () => {
  const errors: unknown[] = [];
  let rounds = 0;
  const loop = createLoop(
    async () => {
      rounds += 1;
      if (rounds === 1) throw new Error('once');
    },
    { everyMs: 5, report: (error) => errors.push(error) },
  );
  while (rounds < 3) await sleep(1);
  await loop.stop();
  expect(errors).toHaveLength(1);
});

test('stop waits for the current round', async () => {
  let ended = false;
  const loop = createLoop(
    async () => {
      await sleep(30);
      ended = true;
    },
    { everyMs: 1, report: () => undefined },
  );
  await loop.stop();
  expect(ended).toBe(true);
});

test('a kicked loop still pauses between rounds', async () => {
  const times: number[] = [];
  const loop = createLoop(
    async () => {
      times.push(performance.now());
    },
    { everyMs: 1e6, restMs: 50, report: () => undefined },
  );
  while (times.length < 3) {
    loop.kick();
    await sleep(1);
  }
  await loop.stop();
  const [first = 0, second = 0, third = 0] = times;
  expect(Math.min(second - first, third - second)).toBeGreaterThan(45);
});
