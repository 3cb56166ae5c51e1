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
