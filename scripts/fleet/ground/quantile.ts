/** Of unsorted numbers; 0 where there are none. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

/** Of an even number the mean of both in the middle: of two rounds not the better one. */
export function median(values: readonly number[]): number {
  const sorted = Float64Array.from(values).sort();
  const half = sorted.length >> 1;
  const upper = sorted[half] ?? 0;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[half - 1] ?? upper)) / 2;
}

export const rounded = (value: number, digits = 2): number => Number(value.toFixed(digits));

/** One row of a table: the first column to the left, the rest to the right. */
export const row = ([first = '', ...rest]: readonly (string | number)[], wide = 26): string =>
  String(first).padEnd(wide) + rest.map((cell) => String(cell).padStart(11)).join('');
