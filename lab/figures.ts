/** The quantile of unsorted numbers; 0 if there are none. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

/** The median; for an even count, the mean of the middle two. */
export function median(values: readonly number[]): number {
  const sorted = Float64Array.from(values).sort();
  const half = sorted.length >> 1;
  const upper = sorted[half] ?? 0;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[half - 1] ?? upper)) / 2;
}

export const rounded = (value: number, digits = 2): number => Number(value.toFixed(digits));

/** A table row: the first column left-aligned, the rest right-aligned. */
export const row = ([first = '', ...rest]: readonly (string | number)[], wide = 26): string =>
  String(first).padEnd(wide) + rest.map((cell) => String(cell).padStart(11)).join('');

export function printTable(rows: readonly (readonly (string | number)[])[], wide?: number): void {
  for (const cells of rows) console.log(row(cells, wide));
}

/** Milliseconds that it takes. */
export async function timed(act: () => unknown): Promise<number> {
  const began = performance.now();
  await act();
  return performance.now() - began;
}

/**
 * The milliseconds of each, which take turns in every round, so that other load on the machine affects all of them.
 * The first round warms up caches and doesn't count.
 */
export async function takeTurns<Name extends string>(
  rounds: number,
  acts: Readonly<Record<Name, (round: number) => number | Promise<number>>>,
): Promise<Record<Name, number[]>> {
  const names = Object.keys(acts) as Name[];
  const times = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<Name, number[]>;
  for (let round = 0; round <= rounds; round += 1)
    for (const name of names) {
      const ms = await acts[name](round);
      if (round > 0) times[name].push(ms);
    }
  return times;
}
