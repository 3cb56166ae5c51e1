import { request } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { hostileCalls } from '../../test/kit/server/hostile-calls.ts';
import { begin, type HttpServer, startServer } from '../../test/kit/server/http.ts';

let server: HttpServer;
let token: string;
let run: string;
beforeAll(async () => {
  server = await startServer({ limits: { bodyBytes: 50_000 } });
  token = server.token('north');
  run = await begin(server, token);
});
afterAll(() => server.listening.close());

/** Raw bytes over one connection; what came back until it closed. */
function raw(parts: readonly (string | number)[], port = server.listening.port): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(port, '127.0.0.1', async () => {
      for (const part of parts) {
        if (typeof part === 'number') await sleep(part);
        else if (!socket.destroyed) socket.write(part);
      }
    });
    socket.setTimeout(60_000, () => socket.destroy(new Error('the server did not close it')));
    socket.on('data', (chunk) => {
      answer += chunk;
    });
    socket.on('close', () => resolve(answer));
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ECONNRESET' && error.code !== 'EPIPE') reject(error);
    });
  });
}

const head = (length: string): string =>
  `POST /v1/runs/${run}/commands HTTP/1.1\r\nHost: 127.0.0.1:${server.listening.port}\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\n${length}\r\n\r\n`;

test('a body that is too large is refused before it is read, and while it is', async () => {
  const body = JSON.stringify({ command: { type: 'advance', output: 'x'.repeat(60_000) } });
  const told = await server.call('POST', `/v1/runs/${run}/commands`, { token, body });
  expect(told).toMatchObject({ status: 413, body: { code: 'too_large' } });
  expect(await raw([head('Content-Length: 999999999')])).toMatch(/^HTTP\/1.1 413 /);
  const chunk = `2000\r\n${' '.repeat(0x2000)}\r\n`;
  expect(await raw([head('Transfer-Encoding: chunked'), ...Array<string>(8).fill(chunk)])).toMatch(
    /^HTTP\/1.1 413 /,
  );
});

test('a body that is nested deeply is refused before it is parsed', async () => {
  for (const body of ['['.repeat(20_000), `{"a":`.repeat(5000), `${'['.repeat(100)}${']'.repeat(100)}`]) {
    const answer = await server.call('POST', `/v1/runs/${run}/commands`, { token, body });
    expect(answer).toMatchObject({ status: 400 });
    expect(answer.body.message).toContain('nested');
  }
  // Brackets in a text are no nesting.
  const harmless = { command: { type: 'note', kind: 'reminder', text: `"\\"${'['.repeat(200)}` } };
  expect(await server.call('POST', `/v1/runs/${run}/commands`, { token, body: harmless })).toMatchObject({
    status: 200,
  });
});

test('a head or a body that does not come is not waited for', async () => {
  // A server of its own: on a slow machine such limits refuse an honest call as well.
  await using hasty = await startServer({ limits: { headersMs: 500, requestMs: 1000 } });
  const { port } = hasty.listening;
  expect(await raw(['POST /v1/runs HTTP/1.1\r\nHost: x\r\n'], port)).toMatch(/^(HTTP\/1.1 408 |$)/);
  const slow = [
    `POST /v1/runs HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${hasty.token('north')}\r\nContent-Type: application/json\r\nContent-Length: 40000\r\n\r\n`,
    ...Array.from({ length: 40 }, () => ['{', 100]).flat(),
  ];
  expect(await raw(slow, port)).toMatch(/^HTTP\/1.1 (408|400) /);
  await expect.poll(async () => (await hasty.call('GET', '/healthz')).status).toBe(200);
});

test('a head that is too large is refused', async () => {
  const large = await raw([`GET /healthz HTTP/1.1\r\nHost: x\r\nX-Big: ${'x'.repeat(40_000)}\r\n\r\n`]);
  expect(large).toMatch(/^HTTP\/1.1 431 /);
});

test('a token that is used too often waits, another does not', async () => {
  let now = Date.now();
  await using own = await startServer({ limits: { perSecond: 2, burst: 5 }, clock: () => now });
  const [busy, other] = [own.token('north'), own.token('north')];
  const statuses = [];
  for (let count = 0; count < 7; count += 1)
    statuses.push((await own.call('GET', '/v1/whoami', { token: busy })).status);
  expect(statuses).toEqual([200, 200, 200, 200, 200, 429, 429]);
  expect(await own.call('GET', '/v1/whoami', { token: other })).toMatchObject({ status: 200 });
  const refused = await own.call('GET', '/v1/whoami', { token: busy });
  expect(refused).toMatchObject({ status: 429, body: { code: 'too_many_requests' } });
  expect(refused.headers.get('retry-after')).toBe('1');
  now += 1000;
  expect(await own.call('GET', '/v1/whoami', { token: busy })).toMatchObject({ status: 200 });
});

test('more than a server can work on is sent away at once', async () => {
  await using own = await startServer({ limits: { inFlight: 0 } });
  const mine = own.token('north');
  const refused = await own.call('GET', '/v1/runs', { token: mine });
  expect(refused).toMatchObject({ status: 503, body: { code: 'unavailable' } });
  expect(refused.headers.get('retry-after')).toBe('1');
});

test('a client that leaves while its token is looked up leaves nothing behind', async () => {
  await using own = await startServer({ limits: { inFlight: 1 } });
  const mine = own.token('north');
  const started = await begin(own, own.token('north'));
  const find = own.backend.findToken;
  const [asked, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  own.backend.findToken = async (hash) => {
    asked.resolve();
    await answer.promise;
    return await find(hash);
  };
  const body = JSON.stringify({ command: { type: 'status' } });
  const left = request(`${own.url}/v1/runs/${started}/commands`, {
    method: 'POST',
    agent: false,
    headers: {
      Authorization: `Bearer ${mine}`,
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(body),
    },
  }).on('error', () => {});
  left.end(body);
  await asked.promise;
  left.destroy();
  // Until the server has seen it.
  for (let count = 0; count < 5; count += 1) {
    await own.call('GET', '/healthz');
    await sleep(50);
  }
  answer.resolve();
  await expect.poll(() => own.metrics()).toMatch(/route="\/v1\/runs\/:run\/commands",status="400"} 1/);
  const next = await own.call('POST', `/v1/runs/${started}/commands`, { token: mine, body });
  expect(next).toMatchObject({ status: 200 });
});

test('hostile text in every parameter is only text', async () => {
  for (const { method, path, body } of hostileCalls(run)) {
    const answer = await server.call(method, path, { token, ...(body ? { body } : {}) });
    expect(answer.status, `${method} ${path} ${JSON.stringify(body)}: ${answer.text}`).toBeLessThan(500);
  }
  expect(await server.call('GET', `/v1/runs/${run}`, { token })).toMatchObject({ status: 200 });
});
