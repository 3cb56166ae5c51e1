/** Token buckets by name. Bounded: where too many names are known, the one that was used longest ago is forgotten. */
export interface Rate {
  /** Takes one; false where nothing is left. */
  take(name: string): boolean;
  /** What was taken did not count. */
  giveBack(name: string): void;
  readonly size: number;
}

interface RateOptions {
  perSecond: number;
  burst: number;
  clock(): number;
  most?: number;
}

export function createRate({ perSecond, burst, clock, most = 10_000 }: RateOptions): Rate {
  const buckets = new Map<string, { left: number; at: number }>();

  function levelOf(name: string, now: number): number {
    const bucket = buckets.get(name);
    if (!bucket) return burst;
    const refilled = (Math.max(0, now - bucket.at) / 1000) * perSecond;
    return Math.min(burst, bucket.left + refilled);
  }

  return {
    take(name) {
      const now = clock();
      const level = levelOf(name, now);
      if (level < 1) return false;
      buckets.delete(name);
      const [oldest] = buckets.size < most ? [] : buckets.keys();
      if (oldest !== undefined) buckets.delete(oldest);
      buckets.set(name, { left: level - 1, at: now });
      return true;
    },
    giveBack(name) {
      const bucket = buckets.get(name);
      if (bucket) bucket.left = Math.min(burst, bucket.left + 1);
    },
    get size() {
      return buckets.size;
    },
  };
}
