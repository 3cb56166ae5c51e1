import { expect, it } from 'vitest';
import { waitForService } from './model-service.ts';
import type { Progress } from './progress.ts';
import { defaultTiming } from './timing.ts';
import type { DriverContext } from './worker-context.ts';

/** How long it waits by its own clock, which jumps to the end. */
async function waited(failures: number, resetAt?: number): Promise<number> {
  let now = 1_000;
  const report = (progress: Progress): void => {
    if (progress.type === 'retry') now = progress.until ?? now;
  };
  const { signal } = new AbortController();
  const context = { clock: () => now, timing: defaultTiming, report, signal };
  const failure = { kind: 'model_service', text: '', ...(resetAt === undefined ? {} : { resetAt }) } as const;
  // It needs no more of a driver.
  await waitForService(context as unknown as DriverContext, { worker: 'main', failure, failures });
  return now - 1_000;
}

const second = 1_000;

it('waits twice as long after each failure, up to the longest wait', async () => {
  const waits = await Promise.all([1, 2, 3, 5, 6, 100].map((failures) => waited(failures)));
  expect(waits.map((ms) => ms / second)).toEqual([15, 30, 60, 240, 300, 300]);
});

it('waits until a usage limit ends, but never less than its own time', async () => {
  expect(await waited(1, 1_000 + 3_600 * second)).toBe(3_600 * second);
  expect(await waited(2, 1_000 + second)).toBe(30 * second);
});
