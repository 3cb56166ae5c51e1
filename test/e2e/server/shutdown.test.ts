import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { defaultLimits } from '../../../src/server/limits.ts';
import { begin, call } from '../../kit/server/http.ts';
import type { Cli, Served } from '../../kit/server/serve.ts';
import { openShop, type Shop } from '../../kit/server/shop.ts';

let shop: Shop;
let cli: Cli;
let token: string;

beforeAll(async () => {
  shop = await openShop();
  cli = shop.cli;
  token = await shop.token('ci');
});
afterAll(() => shop?.[Symbol.asyncDispose]());

/** Far less than a long poll (25 s) or a stream lasts, far more than a slow machine needs. */
const limitMs = 20_000;

async function stopped(
  server: Served,
  signal?: NodeJS.Signals,
): Promise<{ code: number | null; ms: number }> {
  const began = performance.now();
  const code = await server.stop(signal);
  return { code, ms: performance.now() - began };
}

/** A connection that has sent no more than the head of a request, or nothing. */
async function open(server: Served, request?: string, ...headers: string[]): Promise<Socket> {
  const { port, hostname, host } = new URL(server.url);
  const socket = connect(Number(port), hostname).on('error', () => {});
  await once(socket, 'connect');
  const lines = [`${request} HTTP/1.1`, `Host: ${host}`, `Authorization: Bearer ${token}`, ...headers];
  if (request !== undefined) socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  return socket;
}

const announced = ['Content-Type: application/json', 'Content-Length: 100'];

const inFlight = async (server: Served): Promise<number> => {
  const { text } = await call(server.metricsUrl, 'GET', '');
  return Number(/^stepfast_http_in_flight (\d+)/m.exec(text)?.[1]);
};

test('[S8] a server with long polls, event streams and idle connections stops within seconds', async () => {
  const server = await cli.serve();
  const run = await begin({ call: (...args) => call(server.url, ...args) }, token);
  const polls = Array.from({ length: 5 }, () =>
    call(server.url, 'GET', `/v1/runs/${run}/watch?after=1&ms=25000`, { token }).catch(() => undefined),
  );
  const streams = await Promise.all(
    Array.from({ length: 3 }, async () => {
      const response = await fetch(`${server.url}/v1/events`, {
        headers: { Authorization: `Bearer ${token}` },
      });
      expect(response.status).toBe(200);
      return response;
    }),
  );
  const sockets = [await open(server), await open(server, 'GET /v1/whoami')];
  await once(sockets[1] ?? expect.unreachable(), 'data');
  await expect.poll(() => inFlight(server)).toBe(polls.length);

  const { code, ms } = await stopped(server);
  expect(code).toBe(0);
  expect(ms).toBeLessThan(limitMs);
  // On a machine so busy that they take longer than the server waits, they may be cut off.
  const answers = (await Promise.all(polls)).filter((answer) => ms <= defaultLimits.drainMs || answer);
  for (const answer of answers) expect(answer).toMatchObject({ status: 200, body: { seq: 1 } });
  for (const stream of streams) expect(await stream.text()).toContain('event: reconnect');
  expect(server.stderr()).toContain('Shutting down: finishing in-flight requests');
  for (const socket of sockets) socket.destroy();
});

test('[S8] requests that do not end are given a moment, then cut off', async () => {
  const server = await cli.serve();
  const run = await begin({ call: (...args) => call(server.url, ...args) }, token);
  const half = await open(server, `POST /v1/runs/${run}/commands`, ...announced);
  await using locked = await lockRuns();
  const note = { command: { type: 'note', kind: 'reminder', text: 'x' } };
  const blocked = call(server.url, 'POST', `/v1/runs/${run}/commands`, { token, body: note }).catch(
    () => 'cut off',
  );
  await locked.waitedFor();
  await expect.poll(() => inFlight(server)).toBe(2);
  const { code, ms } = await stopped(server, 'SIGINT');
  expect(code).toBe(0);
  expect(ms).toBeLessThan(limitMs);
  expect(await blocked).toBe('cut off');
  half.destroy();
});

test('[S8] a second signal ends the server at once', async () => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    const server = await cli.serve();
    const half = await open(server, 'POST /v1/runs', ...announced);
    await expect.poll(() => inFlight(server)).toBe(1);
    const exit = once(server.child, 'exit');
    server.child.kill('SIGTERM');
    await expect.poll(server.stderr).toContain('Shutting down');
    server.child.kill(signal);
    expect(await exit).toEqual([70, null]);
    half.destroy();
  }
});

/** No command can be written as long as this is held. */
async function lockRuns(): Promise<AsyncDisposable & { waitedFor(): Promise<void> }> {
  const client = new pg.Client({ connectionString: shop.database.cluster.url(shop.database.name) });
  await client.connect();
  await client.query('begin; lock table stepfast.events in access exclusive mode');
  return {
    async waitedFor() {
      const waiting = async () =>
        (
          await client.query(
            `select from pg_locks where not granted and relation = 'stepfast.events'::regclass`,
          )
        ).rowCount;
      await expect.poll(waiting).toBeGreaterThan(0);
    },
    [Symbol.asyncDispose]: () => client.end(),
  };
}
