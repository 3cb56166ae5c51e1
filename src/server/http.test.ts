import { getEventListeners } from 'node:events';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { begin, definition, type HttpServer, startServer } from '../../test/kit/server/http.ts';
import { StepfastError } from '../errors.ts';
import { routes } from './index.ts';

let server: HttpServer;
let token: string;
beforeAll(async () => {
  server = await startServer();
  token = server.token('north');
});
afterAll(() => server.listening.close());

const command = (run: string, own: object, by = token, more: object = {}) =>
  server.call('POST', `/v1/runs/${run}/commands`, { token: by, body: { command: own, ...more } });

test('a run is begun, looked at, moved and removed', async () => {
  const run = await begin(server, token);
  expect(run).toMatch(/^plain-\d{8}-[a-v0-9]{8}$/);
  const { status, body, headers } = await server.call('GET', `/v1/runs/${run}`, { token });
  expect(status).toBe(200);
  expect(body).toMatchObject({ run, state: { status: 'running', step: 'plan' }, version: { seq: 1 } });
  expect(headers.get('etag')).toBe(`"${body.version.hash}"`);
  expect(headers.get('stepfast-api')).toBe('1');

  const same = await server.call('GET', `/v1/runs/${run}`, {
    token,
    headers: { 'If-None-Match': headers.get('etag') ?? '' },
  });
  expect(same).toMatchObject({ status: 304, text: '' });

  const noted = await command(run, { type: 'note', kind: 'decision', text: 'use SQL' });
  expect(noted).toMatchObject({ status: 200, body: { run, changed: true, reply: { status: 'running' } } });
  const { body: history } = await server.call('GET', `/v1/runs/${run}/entries?after=1`, { token });
  expect(history.entries).toMatchObject([{ seq: 2, events: [{ type: 'note.added' }] }]);

  expect(await server.call('DELETE', `/v1/runs/${run}`, { token })).toMatchObject({ status: 204 });
  const gone = await server.call('GET', `/v1/runs/${run}`, { token });
  expect(gone).toMatchObject({ status: 404, body: { code: 'no_run' } });
});

test('the moment is the server\u2019s, whatever a client says', async () => {
  const run = await begin(server, token, { now: 5 });
  const { body } = await server.call('GET', `/v1/runs/${run}`, { token });
  expect(Math.abs(body.state.createdAt - Date.now())).toBeLessThan(120_000);
});

test('a repeated key gets the first answer, and once begins one run', async () => {
  const once = { run: `plain-20261115-${Date.now().toString(32).slice(-8)}`, key: 'auto:1' };
  const body = { definition, command: { type: 'start' }, once };
  const first = await server.call('POST', '/v1/runs', { token, body });
  const again = await server.call('POST', '/v1/runs', { token, body });
  expect(first.body).toMatchObject({ run: once.run, changed: true });
  expect(again.body).toMatchObject({ run: once.run, changed: false, reply: first.body.reply });
  const note = { type: 'note', kind: 'reminder', text: 'twice' };
  expect((await command(once.run, note, token, { key: 'k' })).body.changed).toBe(true);
  expect((await command(once.run, note, token, { key: 'k' })).body).toMatchObject({
    changed: false,
    reply: { replayed: true },
  });
});

test('[S10] a key belongs to one call of one token', async () => {
  const person = server.token('north', { kind: 'person', name: 'ada' });
  const other = server.token('north', { name: 'other' });
  const once = { run: `plain-20261115-${Date.now().toString(32).slice(-8)}`, key: 'begin' };
  const body = { definition, command: { type: 'start' }, once };
  expect((await server.call('POST', '/v1/runs', { token, body })).body).toMatchObject({ changed: true });
  const note = { type: 'note', kind: 'reminder', text: 'mine' };
  expect((await command(once.run, note, token, { key: 'k' })).body.changed).toBe(true);

  const reused = { status: 422, body: { code: 'key_reused' } };
  const cancel = { type: 'cancel', actor: { kind: 'person' } };
  expect(await command(once.run, cancel, person, { key: 'k' })).toMatchObject(reused);
  expect(await command(once.run, note, other, { key: 'k' })).toMatchObject(reused);
  expect(await command(once.run, { ...note, text: 'another' }, token, { key: 'k' })).toMatchObject(reused);
  expect(await server.call('POST', '/v1/runs', { token: other, body })).toMatchObject(reused);
  expect((await command(once.run, note, token, { key: 'k' })).body.reply).toMatchObject({ replayed: true });
  expect((await server.call('POST', '/v1/runs', { token, body })).body).toMatchObject({ changed: false });

  expect((await command(once.run, cancel, person, { key: 'own' })).body).toMatchObject({
    changed: true,
    reply: { status: 'cancelled' },
  });
});

test('a refusal of the machine is an answer', async () => {
  const run = await begin(server, token);
  const answer = await command(run, { type: 'advance', output: 'x', at: 'zzzzzzzz:plan#1' });
  expect(answer).toMatchObject({ status: 200, body: { changed: false, reply: { code: 'wrong_run' } } });
});

test('a long output is kept aside and read by its digest', async () => {
  const run = await begin(server, token);
  const output = `${'long words '.repeat(500)}\u0000 ß 漢`;
  await command(run, { type: 'advance', output });
  const { body } = await server.call('GET', `/v1/runs/${run}`, { token });
  const kept = body.state.cursors.plan.checking.output;
  const text = await server.call('GET', `/v1/runs/${run}/texts/${encodeURIComponent(kept.digest)}`, {
    token,
  });
  expect(text).toMatchObject({ status: 200, text: output });
  const none = await server.call('GET', `/v1/runs/${run}/texts/sha256:${'0'.repeat(64)}`, { token });
  expect(none.status).toBe(404);
});

test('runs are found by name and listed in pages', async () => {
  const own = server.token('south');
  const runs = [];
  for (let count = 0; count < 5; count += 1) runs.push(await begin(server, own));
  const [first = ''] = runs;
  const suffix = first.slice(-8);
  expect((await server.call('GET', `/v1/runs?name=${suffix}`, { token: own })).body).toEqual({
    ids: [first],
  });
  const seen: string[] = [];
  for (let after = ''; ; ) {
    const { body } = await server.call('GET', `/v1/runs?live=true&limit=2${after}`, { token: own });
    seen.push(...body.runs.map((each: { run: string }) => each.run));
    if (body.next === undefined) break;
    after = `&after=${encodeURIComponent(body.next)}`;
  }
  expect(seen.sort()).toEqual(runs.sort());
  expect((await server.call('GET', '/v1/runs?live=false', { token: own })).body).toEqual({ runs: [] });
});

test('a watch ends when the run moves', async () => {
  const run = await begin(server, token);
  const watched = server.call('GET', `/v1/runs/${run}/watch?after=1&ms=25000`, { token });
  await command(run, { type: 'note', kind: 'reminder', text: 'moved' });
  expect(await watched).toMatchObject({ status: 200, body: { seq: 2 } });
  const still = await server.call('GET', `/v1/runs/${run}/watch?after=2&ms=10`, { token });
  expect(still.body).toEqual({ seq: 2 });
});

test('`Prefer: return=representation` returns the run with the reply', async () => {
  const run = await begin(server, token);
  const headers = { Prefer: 'return=representation' };
  const body = { command: { type: 'note', now: 1, kind: 'reminder', text: 'one' } };
  const post = (more: object) => server.call('POST', `/v1/runs/${run}/commands`, { token, body, ...more });
  expect((await post({})).body).not.toHaveProperty('view');
  const { view } = (await post({ headers })).body;
  const { definition: _, run: __, ...seen } = (await server.call('GET', `/v1/runs/${run}`, { token })).body;
  expect(view).toEqual(seen);
  const watch = `/v1/runs/${run}/watch?after=1&ms=25000`;
  expect((await server.call('GET', watch, { token, headers })).body).toEqual({ seq: 3, view });
});

test('a watch that is over listens no more for the end of the server', async () => {
  const run = await begin(server, token);
  const watch = routes.find(({ path }) => path === '/v1/runs/:run/watch');
  const { signal } = new AbortController();
  const request = new Request('http://localhost');
  const query = { after: 0, ms: 1 };
  const call = { params: { run }, query, engine: server.backend.engine(1), request, signal };
  // All that this row looks at.
  const seen = await watch?.handle(call as unknown as Parameters<typeof watch.handle>[0]);
  expect(seen).toEqual({ seq: 1 });
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

test('whoami tells whose token it is', async () => {
  const { body } = await server.call('GET', '/v1/whoami', {
    token: server.token('south', { kind: 'person', name: 'Ada' }),
  });
  expect(body).toEqual({
    project: 'south',
    kind: 'person',
    name: 'Ada',
    scopes: ['read', 'write', 'gates', 'decide', 'admin', 'join'],
  });
});

test('the API is described by its own table', async () => {
  const { status, body } = await server.call('GET', '/v1/openapi.json');
  expect(status).toBe(200);
  expect(body.openapi).toBe('3.1.0');
  const described = Object.entries(body.paths).flatMap(([path, methods]) =>
    Object.keys(methods as object).map(
      (method) => `${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ':$1')}`,
    ),
  );
  expect(described.sort()).toEqual(routes.map(({ method, path }) => `${method} ${path}`).sort());
  const commands = body.paths['/v1/runs/{run}/commands'].post.requestBody.content['application/json'].schema;
  expect(JSON.stringify(commands)).toContain('gatesFinished');
});

test('what is not understood is refused with its place', async () => {
  const run = await begin(server, token);
  const bad = [
    [{ command: { type: 'advance' } }, 422, 'command.output'],
    [{ command: { type: 'advance', output: 'x', surprise: 1 } }, 422, 'surprise'],
    [{ command: { type: 'explode' } }, 422, 'command.type'],
    [{ command: { type: 'start', run } }, 422, 'command.type'],
    [{ command: { type: 'note', kind: 'secret', text: 'x' } }, 422, 'command.kind'],
    [
      { command: { type: 'advance', output: { opening: 'x', digest: 'y', bytes: 1 } } },
      422,
      'command.output',
    ],
    [{ command: { type: 'status' }, key: 'k'.repeat(600) }, 422, 'key'],
    ['{"command": ', 400, 'JSON'],
    ['', 400, 'JSON'],
  ] as const;
  for (const [body, status, words] of bad) {
    const answer = await server.call('POST', `/v1/runs/${run}/commands`, { token, body });
    expect(answer, JSON.stringify(body)).toMatchObject({ status, body: { code: expect.any(String) } });
    expect(answer.body.message).toContain(words);
  }
  const plain = await server.call('POST', `/v1/runs/${run}/commands`, {
    token,
    body: '{}',
    headers: { 'Content-Type': 'text/plain' },
  });
  expect(plain).toMatchObject({ status: 415, body: { code: 'not_json' } });
  const workflow = { ...definition, steps: [{ id: 'a', type: 'loop' }] };
  const invalid = await server.call('POST', '/v1/runs', {
    token,
    body: { definition: workflow, command: { type: 'start' } },
  });
  expect(invalid).toMatchObject({ status: 422 });
  expect(invalid.body.message).toContain('definition');
});

test('paths, queries and methods that are not served are refused', async () => {
  for (const [method, path, status] of [
    ['GET', '/', 404],
    ['GET', '/v2/runs', 404],
    ['PUT', '/v1/runs', 404],
    ['GET', '/v1/runs/..%2f..%2fetc', 400],
    ['GET', '/v1/runs/UPPER', 400],
    ['GET', '/v1/runs?limit=100000', 400],
    ['GET', '/v1/runs?live=maybe', 400],
    ['GET', '/v1/runs?name=a&name=b', 400],
    ['GET', '/v1/runs?project=2', 400],
    ['GET', `/v1/runs?name=${'n'.repeat(5000)}`, 400],
    ['GET', '/v1/events?after=-1', 400],
  ] as const) {
    const answer = await server.call(method, path, { token });
    expect(answer, path).toMatchObject({
      status,
      body: { code: expect.any(String), message: expect.any(String) },
    });
  }
});

test('a server whose database is gone says so, and does not say how', async () => {
  await using own = await startServer();
  const mine = own.token('north');
  const run = await begin(own, mine);
  expect(await own.call('GET', '/readyz')).toMatchObject({ status: 200 });
  own.backend.breakDown(new StepfastError('store_failed', 'no pg_hba.conf entry for host 10.0.0.7'));
  expect(await own.call('GET', '/readyz')).toMatchObject({ status: 503, body: { code: 'unavailable' } });
  expect(await own.call('GET', '/healthz')).toMatchObject({ status: 200, body: { status: 'ok' } });
  const failed = await own.call('GET', `/v1/runs/${run}`, { token: mine });
  expect(failed).toMatchObject({ status: 503, body: { code: 'store_failed' } });
  expect(failed.headers.get('retry-after')).toBe('1');
  for (const { text } of [failed, await own.call('GET', '/readyz')]) expect(text).not.toContain('10.0.0.7');
  expect(own.logged.join('')).toContain('10.0.0.7');
  own.backend.breakDown(new Error('password authentication failed for user "postgres"'));
  const bug = await own.call('GET', `/v1/runs/${run}`, { token: mine });
  expect(bug).toMatchObject({ status: 500, body: { code: 'internal' } });
  expect(bug.text).not.toContain('postgres');
  expect(own.logged.join('')).toContain('password authentication');
});

test('logs and metrics know patterns, never tokens, bodies or queries', async () => {
  await using own = await startServer();
  const mine = own.token('north');
  const run = await begin(own, mine);
  await own.call('GET', `/v1/runs/${run}?x=hidden-query`, { token: mine });
  await own.call('GET', '/v1/runs?name=hidden-name', { token: mine });
  await own.call('GET', '/hidden-path');
  const lines = own.logged.map((line) => JSON.parse(line));
  expect(lines[0]).toMatchObject({
    method: 'POST',
    route: '/v1/runs',
    status: 200,
    project: 'north',
    token: mine.split('_')[1],
    ms: expect.any(Number),
    request: expect.any(String),
    address: '127.0.0.1',
  });
  expect(lines.map(({ route }) => route)).toContain('/v1/runs/:run');
  expect(await own.call('GET', '/metrics')).toMatchObject({ status: 404 });
  const metrics = await own.metrics();
  expect(metrics).toContain(
    'stepfast_http_request_seconds_count{method="GET",route="/v1/runs/:run",status="200"} 1',
  );
  expect(metrics).toContain('stepfast_pool_connections{state="waiting"} 0');
  for (const told of [own.logged.join(''), metrics]) {
    for (const secret of [mine, mine.slice(-49), run, 'a secret plan', 'hidden'])
      expect(told).not.toContain(secret);
  }
});

test('S11: the log has the client address and the request id', async () => {
  await using own = await startServer({ proxies: 1 });
  const headers = { 'X-Forwarded-For': '6.6.6.6, 192.0.2.7', 'X-Request-Id': 'of-the-proxy-1' };
  const answer = await own.call('GET', '/v1/whoami', { token: own.token('north'), headers });
  expect(answer.headers.get('x-request-id')).toBe('of-the-proxy-1');
  await own.call('GET', '/v1/whoami', { token: 'bad', headers: { 'X-Forwarded-For': '192.0.2.8' } });
  expect(own.logged.map((line) => JSON.parse(line))).toMatchObject([
    { request: 'of-the-proxy-1', address: '192.0.2.7', status: 200, project: 'north' },
    { request: expect.any(String), address: '192.0.2.8', status: 401 },
  ]);
});
