import type { Query } from './database.ts';
import { statements } from './statements.ts';
import type { WakeChannel } from './wake-channel.ts';

/** Waits for new batches. However many watchers there are, one query per project runs at a time. */
export interface Watchers {
  watch(project: number, run: string, seq: number, ms: number): Promise<void>;
  /** Reports a batch of this process; `wakes` reports those of other processes. */
  moved(project: number, run: string, seq: number): void;
  /** Wakes all watchers and refuses new ones: their timers would keep the process alive. */
  close(): void;
}

interface Watcher {
  seq: number;
  wake(): void;
}

interface WatchedProject {
  runs: Map<string, Set<Watcher>>;
  querying: boolean;
  again: boolean;
}

export function createWatchers(query: Query, wakes: WakeChannel): Watchers {
  const projects = new Map<number, WatchedProject>();
  let listening = false;
  let closed = false;

  function listen(): void {
    if (listening) return;
    listening = true;
    wakes.on((wake, moved) => {
      if (wake !== 'runs') return;
      for (const project of projects.keys()) if (moved?.has(project) ?? true) void poll(project);
    });
  }

  async function poll(project: number): Promise<void> {
    const watched = projects.get(project);
    if (!watched) return;
    watched.again = true;
    if (watched.querying) return;
    watched.querying = true;
    while (watched.again && watched.runs.size > 0) {
      watched.again = false;
      const polled = new Map([...watched.runs].map(([run, waiting]) => [run, [...waiting]]));
      try {
        const rows = await query(statements.seqs, [project, [...polled.keys()]]);
        const seqs = new Map(rows.map(([run, seq]) => [String(run), Number(seq)]));
        for (const [run, waiting] of polled) {
          const seq = seqs.get(run) ?? Number.POSITIVE_INFINITY;
          for (const watcher of waiting) if (seq > watcher.seq) watcher.wake();
        }
      } catch {
        // The next wake retries, or the watchers time out.
      }
    }
    watched.querying = false;
  }

  return {
    async watch(project, run, seq, ms) {
      if (closed) return;
      listen();
      const watched = projects.get(project) ?? { runs: new Map(), querying: false, again: false };
      projects.set(project, watched);
      const waiting = watched.runs.get(run) ?? new Set();
      watched.runs.set(run, waiting);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(wake, ms);
        const watcher: Watcher = { seq, wake };
        waiting.add(watcher);
        void poll(project);

        function wake(): void {
          clearTimeout(timer);
          waiting.delete(watcher);
          if (waiting.size === 0 && watched.runs.get(run) === waiting) watched.runs.delete(run);
          resolve();
        }
      });
    },

    moved(project, run, seq) {
      for (const watcher of projects.get(project)?.runs.get(run) ?? []) {
        if (seq > watcher.seq) watcher.wake();
      }
    },

    close() {
      closed = true;
      const waiting = [...projects.values()].flatMap(({ runs }) => [...runs.values()]);
      for (const watcher of waiting.flatMap((each) => [...each])) watcher.wake();
    },
  };
}
