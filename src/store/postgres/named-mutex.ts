import { StepfastError } from '../../errors.ts';

/** One action at a time per name, in order, so that a busy run takes one connection of a process instead of all. */
export function createNamedMutex(wait: number): <T>(name: string, action: () => Promise<T>) => Promise<T> {
  const queues = new Map<string, Promise<void>>();
  return async (name, action) => {
    const before = queues.get(name);
    const { promise: left, resolve: leave } = Promise.withResolvers<void>();
    // A caller that gives up must not let the next one overtake earlier callers.
    const queue = before ? before.then(() => left) : left;
    queues.set(name, queue);
    void queue.then(() => {
      if (queues.get(name) === queue) queues.delete(name);
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
  const tooLong = new StepfastError(
    'store_busy',
    `${name}: too many calls are waiting for this run: try again`,
  );
  const timer = setTimeout(() => reject(tooLong), ms);
  await Promise.race([turn, over]).finally(() => clearTimeout(timer));
}
