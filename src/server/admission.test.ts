import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createAdmission } from './admission.ts';

test('a crowd is let in over several turns, in order, and somebody later at once', async () => {
  const admit = createAdmission(3);
  const entered: number[] = [];
  for (let index = 0; index < 8; index += 1) admit().then(() => entered.push(index));
  const counts: number[] = [];
  for (let turn = 0; turn < 4; turn += 1) {
    await Promise.resolve();
    counts.push(entered.length);
    await setImmediate();
  }
  expect(counts).toEqual([3, 6, 8, 8]);
  expect(entered).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  await admit();
});
