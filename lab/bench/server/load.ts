import { median, quantile, rounded } from '../../figures.ts';

export const clientCounts = [1, 16, 64] as const;

/** `either`: any call of a run may go to any of the two servers. */
export const ways = ['bare', 'append', 'inProcess', 'http', 'either'] as const;
export type Way = (typeof ways)[number];
export type Figures = Record<Way, Record<number, Measured>>;

/** A database of some size. */
export interface Point {
  runs: number;
  /** A thousand runs are worked on, spread over all. */
  spread: Measured;
  /** Any of all runs. */
  anywhere: Measured;
}

export interface Load {
  clients: number;
  seconds: number;
  /** Calls of each client. */
  first: number;
}

export interface Measured {
  perSecond: number;
  p50: number;
  p99: number;
}

/**
 * Clients that each do one thing after the other for so long; what each does `first` and the first moments do not count.
 */
export async function load(
  { clients, seconds, first }: Load,
  client: (index: number) => () => Promise<void>,
): Promise<Measured> {
  const acts = Array.from({ length: clients }, (_, index) => client(index));
  await Promise.all(
    acts.map(async (act) => {
      for (let done = 0; done < first; done += 1) await act();
    }),
  );
  const times: number[] = [];
  const begun = performance.now();
  const counted = begun + seconds * 1000 * 0.2;
  const end = begun + seconds * 1000 * 1.2;
  await Promise.all(
    acts.map(async (act) => {
      for (let from = performance.now(); from < end; ) {
        await act();
        const to = performance.now();
        if (from >= counted && to <= end) times.push(to - from);
        from = to;
      }
    }),
  );
  return measuredOf(times, seconds);
}

/** The median of each figure. */
export const middle = (all: readonly Measured[]): Measured => ({
  perSecond: Math.round(median(all.map(({ perSecond }) => perSecond))),
  p50: rounded(median(all.map(({ p50 }) => p50))),
  p99: rounded(median(all.map(({ p99 }) => p99))),
});

export const measuredOf = (times: readonly number[], seconds: number): Measured => ({
  perSecond: Math.round(times.length / seconds),
  p50: rounded(quantile(times, 0.5)),
  p99: rounded(quantile(times, 0.99)),
});
