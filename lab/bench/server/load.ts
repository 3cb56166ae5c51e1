import { quantile, rounded } from '../../figures.ts';

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

export const measuredOf = (times: readonly number[], seconds: number): Measured => ({
  perSecond: Math.round(times.length / seconds),
  p50: rounded(quantile(times, 0.5)),
  p99: rounded(quantile(times, 0.99)),
});
