import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { TailRow, WakeListener } from '../store/postgres/index.ts';
import { createTailHub, type Listener } from './tail-hub.ts';

const tick = (ms = 0): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** A stream with slow queries, which may finish out of order. */
function createSource(delays: () => number) {
  const rows: TailRow[] = [];
  const wakes = new Set<WakeListener>();
  let queries = 0;
  return {
    rows,
    get queries() {
      return queries;
    },
    add(): void {
      const cursor = String(rows.length + 1);
      rows.push({ cursor, run: 'r', seq: rows.length + 1, batch: '{}' });
      for (const wake of wakes) wake('runs', new Set([1]));
    },
    async tail(_project: number, after: string | undefined, limit: number) {
      queries += 1;
      const seen = rows.length;
      const from = after === undefined ? seen : Number(after);
      const found = rows.slice(from, Math.min(seen, from + limit));
      await tick(delays());
      return { rows: found, cursor: found.at(-1)?.cursor ?? String(from) };
    },
    onWake(listener: WakeListener) {
      wakes.add(listener);
      return () => void wakes.delete(listener);
    },
  };
}

function reader(got: number[]): Listener {
  const failed = (error: unknown): never => {
    throw error;
  };
  return {
    take: (rows) => got.push(...rows.map(({ seq }) => seq)),
    reset: failed,
    failed,
    hasRoom: () => true,
    untilRoom: async () => undefined,
  };
}

/** Takes one piece, then nothing for a moment. */
function slowReader(got: number[]): Listener {
  const quick = reader(got);
  let full = false;
  return {
    ...quick,
    take(rows, cursor) {
      expect(full).toBe(false);
      quick.take(rows, cursor);
      full = true;
    },
    hasRoom: () => !full,
    async untilRoom() {
      await tick(1);
      full = false;
    },
  };
}

test('every listener gets each batch once and in order, whenever it joins', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom('add', 'join', 'wait'), { maxLength: 40 }),
      fc.nat(5),
      async (steps, slow) => {
        const source = createSource(() => slow);
        const hub = createTailHub(source);
        const heard: { from: number; got: number[] }[] = [];
        const join = (from: number): void => {
          const got: number[] = [];
          heard.push({ from, got });
          hub.join(1, String(from), heard.length % 2 === 0 ? reader(got) : slowReader(got));
        };
        for (const step of steps) {
          if (step === 'add') source.add();
          if (step === 'join') join(Math.floor(source.rows.length / 2));
          if (step === 'wait') await tick(1);
        }
        const whole = (): boolean => heard.every(({ from, got }) => got.length >= source.rows.length - from);
        await expect.poll(whole, { interval: 5 }).toBe(true);
        for (const { from, got } of heard)
          expect(got).toEqual(Array.from({ length: source.rows.length - from }, (_, at) => from + at + 1));
        hub.close();
      },
    ),
    { numRuns: 25 },
  );
});

test('a page longer than the limit is not the last', async () => {
  const source = createSource(() => 0);
  // Rows of one transaction are never split across pages.
  const whole = {
    ...source,
    tail: (project: number, after: string | undefined, limit: number) =>
      source.tail(project, after, limit + 1),
  };
  const hub = createTailHub(whole);
  const got: number[] = [];
  hub.join(1, '0', reader(got));
  await expect.poll(() => source.queries, { interval: 5 }).toBeGreaterThan(0);
  await tick(60);
  const rest = Array.from({ length: 1101 }, (_, at) => at + 1);
  for (const seq of rest.slice(1))
    source.rows.push({ cursor: String(seq - 1), run: 'r', seq: seq - 1, batch: '{}' });
  // One wake-up for all rows.
  source.add();
  await expect.poll(() => got, { interval: 5 }).toEqual(rest);
  hub.close();
});

test('wake-ups of other projects or without listeners run no query', async () => {
  const source = createSource(() => 0);
  const hub = createTailHub(source);
  source.add();
  await tick(5);
  expect(source.queries).toBe(0);
  const leave = hub.join(2, undefined, reader([]));
  await expect.poll(() => source.queries, { interval: 5 }).toBeGreaterThan(0);
  await tick(60);
  const before = source.queries;
  source.add();
  await tick(30);
  expect(source.queries).toBe(before);
  leave();
  hub.close();
});
