import type { Engine } from '../../../src/engine/index.ts';
import { openConnection } from '../../fleet/ground/connection.ts';
import type { Team } from '../../fleet/ground/team.ts';
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

interface Advance {
  type: 'advance';
  now: number;
  session: string;
  output: string;
  at: string;
}

type Send = (
  run: string,
  command: Advance,
  key: string,
) => Promise<{ reply: { at?: string | undefined }; changed: boolean }>;

/** Real commands through engine and store, in this process. */
export const measureInProcess = (engine: Engine, hands: Hands, size: Load): Promise<Measured> =>
  measure(
    hands,
    size,
    () =>
      (...call) =>
        engine.execute(...call),
  );

/**
 * The same commands through the servers. Each client has a connection to one of them, or to both, and then calls one at
 * random, as through a load balancer.
 */
export async function measureOverHttp(
  { servers, token }: Pick<Team, 'servers' | 'token'>,
  hands: Hands,
  size: Load,
  either: boolean,
): Promise<Measured> {
  const lines = Array.from({ length: size.clients }, (_, client) =>
    servers
      .filter((_, index) => either || client % servers.length === index)
      .map(({ port }) => openConnection(port)),
  );
  try {
    return await measure(hands, size, (client) => async (run, command, key) => {
      const own = lines[client] ?? [];
      const line = own[Math.floor(Math.random() * own.length)];
      const answer = await line?.post(`/v1/runs/${run}/commands`, { command, key }, token);
      if (answer?.status !== 200) throw new Error(`${answer?.status} ${answer?.body.slice(0, 300)}`);
      return JSON.parse(answer.body);
    });
  } finally {
    for (const line of lines.flat()) line.close();
  }
}

let calls = 0;

function measure(hands: Hands, size: Load, sendOf: (client: number) => Send): Promise<Measured> {
  return load(size, (client) => async () => {
    const { run, at, moved } = hands.next(client, size.clients);
    calls += 1;
    const command = { type: 'advance', now: Date.now(), session: 'bench', output, at } as const;
    const { reply, changed } = await sendOf(client)(run, command, `call-${calls}`);
    if (!changed) throw new Error(`${run} did not move: ${JSON.stringify(reply).slice(0, 200)}`);
    moved(reply.at);
  });
}
