import type { Engine } from '../../../src/engine/index.ts';
import { type Load, load, type Measured } from './load.ts';
import { firstHandle, output, runOf } from './runs.ts';

/** The runs that are worked on, each with the handle of its open position. */
export interface Hands {
  /** A client's next run; no two clients have the same. */
  next(client: number, clients: number): { run: string; at: string; moved(at: string | undefined): void };
}

/** `indexes`: which of the runs are worked on; `handles`: of those that others work on too. */
export function createHands(indexes: readonly number[], handles = new Map<number, string>()): Hands {
  const turns = new Map<number, number>();
  return {
    next(client, clients) {
      const turn = turns.get(client) ?? 0;
      turns.set(client, turn + 1);
      const each = Math.max(1, Math.floor(indexes.length / clients));
      const index = indexes[(turn % each) * clients + client] ?? client;
      return {
        run: runOf(index),
        at: handles.get(index) ?? firstHandle(index),
        moved(at) {
          if (at !== undefined) handles.set(index, at);
        },
      };
    },
  };
}

let measurements = 0;

/** Real commands through engine and store, in this process. */
export function measureInProcess(engine: Engine, hands: Hands, size: Load): Promise<Measured> {
  measurements += 1;
  let calls = 0;
  return load(size, (client) => async () => {
    const { run, at, moved } = hands.next(client, size.clients);
    calls += 1;
    const command = { type: 'advance', now: Date.now(), session: 'bench', output, at } as const;
    const { reply, changed } = await engine.execute(run, command, `in-${measurements}-${calls}`);
    if (!changed) throw new Error(`${run} did not move: ${JSON.stringify(reply).slice(0, 200)}`);
    moved(reply.at);
  });
}
