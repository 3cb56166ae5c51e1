import { openConnection } from '../../fleet/ground/connection.ts';
import type { ServerProcess } from '../../fleet/ground/servers.ts';
import type { Hands } from './in-process.ts';
import { load, type Measured } from './load.ts';
import { output } from './runs.ts';

let measurements = 0;

/** The same commands through two servers: every client has a connection, every second one to the other server. */
export async function measureOverHttp(
  servers: readonly ServerProcess[],
  token: string,
  hands: Hands,
  clients: number,
  seconds: number,
): Promise<Measured> {
  measurements += 1;
  const lines = Array.from({ length: clients }, (_, client) =>
    openConnection({ port: servers[client % servers.length]?.port ?? 0, token }),
  );
  let calls = 0;
  try {
    return await load(clients, seconds, (client) => async () => {
      const { run, at, moved } = hands.next(client, clients);
      calls += 1;
      const command = { type: 'advance', now: Date.now(), session: 'bench', output, at };
      const body = JSON.stringify({ command, key: `http-${measurements}-${calls}` });
      const answer = await lines[client]?.call('POST', `/v1/runs/${run}/commands`, body);
      if (answer?.status !== 200) throw new Error(`${answer?.status} ${answer?.body.slice(0, 300)}`);
      const { reply, changed } = JSON.parse(answer.body);
      if (!changed) throw new Error(`${run} did not move: ${JSON.stringify(reply).slice(0, 200)}`);
      moved(reply.at);
    });
  } finally {
    for (const line of lines) line.close();
  }
}
