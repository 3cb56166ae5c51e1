import type { Loaded } from '../../store/index.ts';
import type { Engine } from '../engine.ts';

/**
 * For a process that lives for one moment: what it saw of a run is not asked for again before it did something, or
 * waited.
 */
export function lookingOnce<E extends Engine>(engine: E): E {
  const seen = new Map<string, Promise<Loaded | undefined>>();
  const anew =
    <A extends unknown[], R>(act: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      try {
        return await act(...args);
      } finally {
        seen.clear();
      }
    };
  const { begin, execute, watch, remove } = engine;
  return {
    ...engine,
    begin: anew(begin),
    execute: anew(execute),
    watch: anew(watch),
    remove: anew(remove),
    view(run: string) {
      const known = seen.get(run);
      if (known) return known;
      const view = engine.view(run);
      seen.set(run, view);
      view.catch(() => seen.delete(run));
      return view;
    },
  };
}
