/** Runs work, at most `most` at a time for each name; the rest waits in order. */
export type Lanes<N> = <T>(name: N, work: () => Promise<T>) => Promise<T>;

export function createLanes<N>(most: number): Lanes<N> {
  const lanes = new Map<N, { busy: number; waiting: (() => void)[] }>();
  return async (name, work) => {
    const lane = lanes.get(name) ?? { busy: 0, waiting: [] };
    lanes.set(name, lane);
    // Who leaves hands the place over.
    if (lane.busy >= most) await new Promise<void>((resolve) => lane.waiting.push(resolve));
    else lane.busy += 1;
    try {
      return await work();
    } finally {
      const next = lane.waiting.shift();
      if (next) next();
      else lane.busy -= 1;
      if (lane.busy === 0) lanes.delete(name);
    }
  };
}
