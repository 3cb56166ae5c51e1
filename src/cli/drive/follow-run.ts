import { withoutSecrets } from '../../context/index.ts';
import { ended } from '../../machine/index.ts';
import type { LocalRuntime } from '../../runtime/index.ts';
import type { Loaded } from '../../store/index.ts';
import { timeOf } from '../clock.ts';
import type { Span } from '../paint.ts';
import type { RunLines } from './run-lines.ts';

export interface Follower {
  /** The run as it was read last. */
  view(): Loaded | undefined;
  /** Prints what is missing, and stops. */
  end(): Promise<void>;
}

const watchMs = 30_000;

/** Prints each event of a run as it happens. */
export function createFollower(
  { engine }: Pick<LocalRuntime, 'engine'>,
  run: string,
  {
    lines,
    print,
    from,
  }: { lines: Pick<RunLines, 'lineOf'>; print(words: readonly Span[]): void; from: number },
): Follower {
  let seq = from;
  const stop = new AbortController();
  let last: Loaded | undefined;
  const over = follow().catch(() => {});
  return {
    view: () => last,
    async end() {
      stop.abort();
      await over;
      await read().catch(() => {});
    },
  };

  async function follow(): Promise<void> {
    while (!stop.signal.aborted) {
      const view = await read();
      if (!view || ended(view.state)) return;
      await engine.watch(run, seq, watchMs, { signal: stop.signal });
    }
  }

  async function read(): Promise<Loaded | undefined> {
    last = await engine.view(run);
    if (!last) return undefined;
    for (const entry of await engine.entries(run, seq)) {
      seq = Math.max(seq, entry.seq);
      for (const event of withoutSecrets(entry).events) {
        const words = lines.lineOf(event, last);
        if (words) print([['dim', `${timeOf(entry.now)}  `], ...words]);
      }
    }
    return last;
  }
}
