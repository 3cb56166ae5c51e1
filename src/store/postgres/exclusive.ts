import { StepfastError } from '../../errors.ts';

/** One at a time for each name, first come, first served: a hot run takes one connection of a process, not all. */
export function createExclusive(wait: number): <T>(name: string, action: () => Promise<T>) => Promise<T> {
  const lines = new Map<string, Promise<unknown>>();
  return async (name, action) => {
    const before = lines.get(name);
    const deadline = Date.now() + wait;
    const mine = (async () => {
      await before?.catch(() => {});
      if (Date.now() > deadline)
        throw new StepfastError('store_busy', `${name}: too many calls wait for this run: try again`);
      return await action();
    })();
    lines.set(name, mine);
    try {
      return await mine;
    } finally {
      if (lines.get(name) === mine) lines.delete(name);
    }
  };
}
