import type { Definition } from '../../src/machine/index.ts';
import type { Connection } from './ground/connection.ts';

export const workflow: Definition = {
  name: 'fleet',
  description: 'What a simulated agent does in about a quarter of an hour',
  steps: [
    { id: 'plan', type: 'action', instructions: 'Plan what is asked for' },
    { id: 'build', type: 'ralph', n: 5, instructions: 'Build the next part of it' },
    { id: 'check', type: 'action', instructions: 'Check all of it' },
  ],
};

/** A simulated agent that starts a run, completes it, and starts the next. */
export interface Agent {
  /** Makes the next call. Throws on an unexpected response. */
  act(connection: Connection): Promise<void>;
  readonly runsDone: number;
}

interface Answer {
  run: string;
  reply: { at?: string; status?: string; code?: string };
}

export function createAgent(number: number, token: string, random: () => number): Agent {
  const session = `agent-${number}`;
  let run: string | undefined;
  let at: string | undefined;
  let calls = 0;
  let done = 0;
  return {
    get runsDone() {
      return done;
    },
    async act(connection) {
      calls += 1;
      const now = Date.now();
      if (run === undefined) {
        const command = { type: 'start', now, session, summary: `What ${session} was asked for, ${done}` };
        await send(connection, '/v1/runs', { definition: workflow, command });
        return;
      }
      const path = `/v1/runs/${run}/commands`;
      const dice = random();
      const key = `${session}-${calls}`;
      if (dice < 0.2) await send(connection, path, { command: { type: 'status', now, session } });
      else if (dice < 0.3) {
        const note = { type: 'note', now, session, kind: 'decision', text: `Found out in call ${calls}` };
        await send(connection, path, { key, command: note }, false);
      } else {
        const output = `Done with ${at}: the form keeps what was typed, all tests are green`;
        await send(connection, path, { key, command: { type: 'advance', now, session, at, output } });
      }
    },
  };

  async function send(connection: Connection, path: string, body: object, moves = true): Promise<void> {
    const answer = await connection.post(path, body, token);
    if (answer.status !== 200) throw new Error(`${answer.status} ${answer.body.slice(0, 200)}`);
    const { run: of, reply }: Answer = JSON.parse(answer.body);
    if (reply.code !== undefined) throw new Error(`${path}: ${answer.body.slice(0, 200)}`);
    run = of;
    if (moves) at = reply.at;
    if (reply.status !== 'complete') return;
    done += 1;
    run = undefined;
  }
}
