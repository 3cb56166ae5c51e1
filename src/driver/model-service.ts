import type { TurnFailure } from '../runtime/index.ts';
import { type DriverContext, delay } from './worker-context.ts';

/** Waits for the model service: until the time that it has named, or longer with each failure in a row. */
export async function waitForService(
  { clock, timing, report, signal }: DriverContext,
  {
    worker,
    failure,
    failures,
  }: { worker: string; failure: Extract<TurnFailure, { kind: 'model_service' }>; failures: number },
): Promise<void> {
  const { status, resetAt } = failure;
  const growing = Math.min(timing.serviceMs * 2 ** Math.min(failures - 1, 20), timing.longestServiceMs);
  const until = Math.max(resetAt ?? 0, clock() + growing);
  report({ type: 'retry', worker, until, ...(status === undefined ? {} : { status }) });
  // In pieces: a laptop that slept must notice that the time has passed.
  while (clock() < until && !signal.aborted) await delay(Math.min(until - clock(), 60_000), signal);
}
