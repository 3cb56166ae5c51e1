import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { hashDefinition } from '../../../src/definition/index.ts';
import { createEngine, type Engine } from '../../../src/engine/engine.ts';
import { newRun } from '../../../src/engine/new-run-id.ts';
import type { Definition } from '../../../src/machine/index.ts';
import { openDatabase, type TestDatabase } from '../database.ts';

/** A database with engines over it. */
export interface Stage extends TestDatabase {
  engine(project: number): Engine;
}

export async function setStage(given?: TestDatabase): Promise<Stage> {
  const database = given ?? (await openDatabase());
  const { store } = database.postgres;
  return {
    ...database,
    engine: (project) => createEngine({ store: store(project), newRun, hashOf: hashDefinition }),
  };
}

export const twoSteps: Definition = {
  name: 'two',
  description: 'two steps',
  steps: [
    { id: 'build', type: 'action', instructions: 'build it' },
    { id: 'ship', type: 'action', instructions: 'ship it' },
  ],
};

export const reviewed: Definition = {
  name: 'reviewed',
  description: 'a step that a person reviews',
  steps: [{ id: 'build', type: 'action', instructions: 'build it', review: { by: 'human' } }],
};

export async function begin(engine: Engine, definition = twoSteps): Promise<string> {
  return (await engine.begin(definition, { type: 'start', now: Date.now() })).run;
}

export interface Got {
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
  /** The body, read. */
  told: { type: string; timestamp: string; data: Record<string, unknown> };
}

export interface Receiver {
  url: string;
  got: Got[];
  connections(): number;
  /** How it answers from now on; `hang` never does. */
  answer: (got: Got) => number | 'hang';
  close(): Promise<void>;
}

export async function startReceiver(): Promise<Receiver> {
  let connections = 0;
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += chunk;
    const { url: path = '', headers } = request;
    const got: Got = { path, headers, body, told: JSON.parse(body) };
    receiver.got.push(got);
    const status = receiver.answer(got);
    if (status === 'hang') return;
    response.writeHead(status, status === 302 ? { location: '/elsewhere' } : {}).end('thanks');
  });
  server.on('connection', () => {
    connections += 1;
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const receiver: Receiver = {
    url: `http://127.0.0.1:${address.port}/hook`,
    got: [],
    connections: () => connections,
    answer: () => 204,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return receiver;
}

export async function until(
  condition: () => boolean | Promise<boolean>,
  what: string,
  ms = 300_000,
): Promise<void> {
  const deadline = Date.now() + ms;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`did not come: ${what}`);
    await sleep(50);
  }
}

/** By the words of Standard Webhooks and the Web's own cryptography, not by ours. */
export async function expectSigned({ headers, body }: Got, secret: string): Promise<void> {
  const raw = Uint8Array.from(atob(secret.replace(/^whsec_/, '')), (char) => char.charCodeAt(0));
  const key = await crypto.subtle.importKey('raw', raw, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);
  const [version, signature = ''] = String(headers['webhook-signature']).split(',');
  expect(version).toBe('v1');
  const signed = new TextEncoder().encode(`${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`);
  const bytes = Uint8Array.from(atob(signature), (char) => char.charCodeAt(0));
  expect(await crypto.subtle.verify('HMAC', key, bytes, signed)).toBe(true);
  expect(Math.abs(Number(headers['webhook-timestamp']) - Date.now() / 1000)).toBeLessThan(300);
}
