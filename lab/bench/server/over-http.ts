import { openConnection } from '../../fleet/ground/connection.ts';
import type { ServerProcess } from '../../fleet/ground/servers.ts';
import type { Hands } from './in-process.ts';
import { type Load, load, type Measured } from './load.ts';
import { output } from './runs.ts';

let measurements = 0;

/**
 * The same commands through two servers. Every client has a connection to one of them, as one that keeps it open has;
 * or to both, and calls one at random, as through a balancer that knows nothing.
 */
export async function measureOverHttp(
  { servers, token }: { servers: readonly ServerProcess[]; token: string },
  hands: Hands,
  size: Load,
  either = false,
): Promise<Measured> {
  measurements += 1;
  const lines = Array.from({ length: size.clients }, (_, client) =>
    servers
      .filter((_, index) => either || client % servers.length === index)
      .map(({ port }) => openConnection({ port, token })),
  );
  let calls = 0;
  try {
    return await load(size, (client) => async () => {
      const { run, at, moved } = hands.next(client, size.clients);
      const own = lines[client] ?? [];
      calls += 1;
      const command = { type: 'advance', now: Date.now(), session: 'bench', output, at };
      const body = JSON.stringify({ command, key: `http-${measurements}-${calls}` });
      const answer = await own[Math.floor(Math.random() * own.length)]?.call(
        'POST',
        `/v1/runs/${run}/commands`,
        body,
      );
      if (answer?.status !== 200) throw new Error(`${answer?.status} ${answer?.body.slice(0, 300)}`);
      const { reply, changed } = JSON.parse(answer.body);
      if (!changed) throw new Error(`${run} did not move: ${JSON.stringify(reply).slice(0, 200)}`);
      moved(reply.at);
    });
  } finally {
    for (const line of lines.flat()) line.close();
  }
}
