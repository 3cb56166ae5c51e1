/** Token buckets by name. Evicts the least recently used name beyond `maxNames`. */
export interface RateLimit {
  /** Takes one token; false if the bucket is empty. */
  take(name: string): boolean;
  /** Returns a token that was taken. */
  refund(name: string): void;
  readonly size: number;
}

interface RateLimitOptions {
  perSecond: number;
  burst: number;
  clock(): number;
  maxNames?: number;
}

export function createRateLimit({ perSecond, burst, clock, maxNames = 10_000 }: RateLimitOptions): RateLimit {
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
      const [oldest] = buckets.size < maxNames ? [] : buckets.keys();
      if (oldest !== undefined) buckets.delete(oldest);
      buckets.set(name, { left: level - 1, at: now });
      return true;
    },
    refund(name) {
      const bucket = buckets.get(name);
      if (bucket) bucket.left = Math.min(burst, bucket.left + 1);
    },
    get size() {
      return buckets.size;
    },
  };
}
