import type { Backend } from './backend.ts';

export interface TailLag {
  /** Milliseconds by which streams and webhooks are behind at least, because of a transaction that has not ended. */
  measure(): Promise<number>;
  /** The last measurement, which is a few seconds old. */
  last(): number;
  close(): void;
}

const everyMs = 5000;

/** Remembers the oldest number that streams have not passed, and when it was seen. */
export function createTailLag(read: NonNullable<Backend['tailEnd']>, clock: () => number): TailLag {
  let waiting: { since: number; next: bigint } | undefined;
  let last = 0;
  const timer = setInterval(() => void measure().catch(() => {}), everyMs);
  timer.unref();
  return { measure, last: () => last, close: () => clearInterval(timer) };

  async function measure(): Promise<number> {
    const { stop, next } = await read();
    if (waiting && stop >= waiting.next) waiting = undefined;
    if (stop < next) waiting ??= { since: clock(), next };
    last = waiting ? Math.max(0, clock() - waiting.since) : 0;
    return last;
  }
}
