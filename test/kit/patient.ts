import { hash } from 'node:crypto';

const work = 'x'.repeat(1 << 20);
/** What the work takes on an idle machine of our day. */
const idleMs = 8;

/** A limit in milliseconds for a machine that is as busy as this one is now: what hangs is still found. */
export function patient(ms: number): number {
  const started = performance.now();
  for (let times = 0; times < 10; times += 1) hash('sha256', work);
  return ms * 3 * Math.max(1, (performance.now() - started) / idleMs);
}
