import { StepfastError } from '../../errors.ts';

/** One at a time for each name, first come, first served: a hot run takes one connection of a process, not all. */
export function createNamedMutex(wait: number): <T>(name: string, action: () => Promise<T>) => Promise<T> {
  const lines = new Map<string, Promise<void>>();
  return async (name, action) => {
    const before = lines.get(name);
    const { promise: left, resolve: leave } = Promise.withResolvers<void>();
    // Whoever leaves early does not let the next one in before those who came first.
    const line = before ? before.then(() => left) : left;
    lines.set(name, line);
    void line.then(() => {
      if (lines.get(name) === line) lines.delete(name);
    });
    try {
      if (before) await withinMs(before, wait, name);
      return await action();
    } finally {
      leave();
    }
  };
}

async function withinMs(turn: Promise<void>, ms: number, name: string): Promise<void> {
  const { promise: over, reject } = Promise.withResolvers<never>();
  const tooLong = new StepfastError('store_busy', `${name}: too many calls wait for this run: try again`);
  const timer = setTimeout(() => reject(tooLong), ms);
  await Promise.race([turn, over]).finally(() => clearTimeout(timer));
}
