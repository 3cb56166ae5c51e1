import { expect, test } from 'vitest';
import { createTailLag } from './tail-lag.ts';

test('S9: the lag grows while a transaction holds the tail back, and ends with it', async () => {
  let now = 1000;
  let end = { stop: 10n, next: 10n };
  const lag = createTailLag(
    async () => end,
    () => now,
  );
  const after = async (ms: number, stop: bigint, next: bigint): Promise<number> => {
    now += ms;
    end = { stop, next };
    return await lag.measure();
  };
  expect(await after(0, 10n, 10n)).toBe(0);
  // Many short transactions are no lag.
  expect(await after(5000, 98n, 100n)).toBe(0);
  expect(await after(5000, 199n, 200n)).toBe(0);
  expect(await after(5000, 199n, 300n)).toBe(5000);
  expect(await after(60_000, 199n, 400n)).toBe(65_000);
  expect(await after(1000, 500n, 500n)).toBe(0);
  lag.close();
});
