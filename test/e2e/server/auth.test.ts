import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type CryptoKey, exportJWK, exportSPKI, generateKeyPair, SignJWT, UnsecuredJWT } from 'jose';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { StepfastError } from '../../../src/errors.ts';
import { hashToken } from '../../../src/server/index.ts';
import { begin, definition, type HttpServer, startServer } from './http-kit.ts';

const issuer = 'https://issuer.example';
const audience = 'https://stepfast.example';
let keys: { privateKey: CryptoKey; publicKey: CryptoKey };
let server: HttpServer;
let keyServer: ReturnType<typeof createServer>;
let asked = 0;

beforeAll(async () => {
  keys = await generateKeyPair('ES256', { extractable: true });
  const jwk = { ...(await exportJWK(keys.publicKey)), kid: 'one', alg: 'ES256', use: 'sig' };
  keyServer = createServer((_request, response) => {
    asked += 1;
    response.setHeader('Content-Type', 'application/json').end(JSON.stringify({ keys: [jwk] }));
  });
  await new Promise<void>((resolve) => keyServer.listen(0, '127.0.0.1', resolve));
  // A server that listens on a port has one.
  const { port } = keyServer.address() as AddressInfo;
  const resources = [audience, `${audience}/mcp`];
  const keyUrl = new URL(`http://127.0.0.1:${port}/keys`);
  server = await startServer({
    issuer: { issuer, audience: resources, keys: keyUrl },
    limits: { failuresPerMinute: 1000 },
  });
});
afterAll(async () => {
  await server.listening.close();
  keyServer.close();
});

const claims = { stepfast_project: 'north', scope: 'openid read write', sub: 'robot-7' };
const seconds = (ahead: number): number => Math.floor(Date.now() / 1000) + ahead;

async function sign(
  own: Record<string, unknown> = {},
  { key = keys.privateKey, alg = 'ES256', kid = 'one' }: { key?: CryptoKey; alg?: string; kid?: string } = {},
): Promise<string> {
  const payload = { iss: issuer, aud: audience, exp: seconds(300), ...claims, ...own };
  return await new SignJWT(payload).setProtectedHeader({ alg, kid }).sign(key);
}

const whoami = (token?: string, headers: Record<string, string> = {}) =>
  server.call('GET', '/v1/whoami', { headers, ...(token === undefined ? {} : { token }) });

test('without a token nobody gets in, and is told where tokens come from', async () => {
  const refused = await whoami();
  expect(refused).toMatchObject({ status: 401, body: { code: 'unauthorized' } });
  expect(refused.headers.get('www-authenticate')).toBe(
    'Bearer resource_metadata="https://stepfast.example/.well-known/oauth-protected-resource"',
  );
  const { status, body } = await server.call('GET', '/.well-known/oauth-protected-resource');
  expect(status).toBe(200);
  expect(body).toMatchObject({
    resource: audience,
    authorization_servers: [issuer],
    bearer_methods_supported: ['header'],
  });
  const mcp = await server.call('GET', '/.well-known/oauth-protected-resource/mcp');
  expect(mcp.body.resource).toBe(`${audience}/mcp`);
  for (const value of ['Basic eDp5', 'Bearer', 'Bearer ', 'Bearer a b', `Bearer ${'x'.repeat(9000)}`])
    expect(await whoami(undefined, { Authorization: value }), value).toMatchObject({ status: 401 });
  // A token in the address would be in every log.
  const token = server.token('north');
  expect(await server.call('GET', `/v1/whoami?access_token=${token}`)).toMatchObject({ status: 401 });
});

test('a token is good until it expires or is revoked', async () => {
  const good = server.token('north');
  expect(await whoami(good)).toMatchObject({ status: 200, body: { project: 'north', kind: 'agent' } });
  const refused = await whoami(`${good.slice(0, -1)}${good.endsWith('A') ? 'B' : 'A'}`);
  expect(refused).toMatchObject({ status: 401 });
  expect(refused.headers.get('www-authenticate')).toContain('error="invalid_token"');
  expect(await whoami(server.token('north', { expiresAt: Date.now() - 1 }))).toMatchObject({ status: 401 });

  server.backend.revoke(hashToken(good));
  expect(await whoami(good)).toMatchObject({ status: 401 });
});

test('a token that was good a moment ago is not after its end', async () => {
  let now = Date.now();
  await using own = await startServer({ clock: () => now });
  const token = own.token('north', { expiresAt: now + 500 });
  expect(await own.call('GET', '/v1/whoami', { token })).toMatchObject({ status: 200 });
  now += 500;
  expect(await own.call('GET', '/v1/whoami', { token })).toMatchObject({ status: 401 });
});

test('a token of the issuer is taken for what it says', async () => {
  const agent = await whoami(await sign());
  expect(agent).toMatchObject({ status: 200 });
  expect(agent.body).toEqual({ project: 'north', kind: 'agent', name: 'robot-7', scopes: ['read', 'write'] });
  const person = await whoami(
    await sign({
      stepfast_kind: 'person',
      name: 'Ada',
      scope: 'read decide',
      aud: [`${audience}/mcp`, 'other'],
    }),
  );
  expect(person.body).toEqual({
    project: 'north',
    kind: 'person',
    name: 'Ada (robot-7)',
    scopes: ['read', 'decide'],
  });
  // Whoever is called so by the issuer too is so called.
  expect((await whoami(await sign({ name: 'robot-7' }))).body.name).toBe('robot-7');
  const long = (await whoami(await sign({ name: 'A'.repeat(500) }))).body.name;
  expect(long).toMatch(/^A{100} \(robot-7\)$/);
  // An agent decides nothing, whatever the issuer gave it.
  expect((await whoami(await sign({ scope: 'decide admin' }))).body.scopes).toEqual(['admin']);
  expect(asked).toBe(1);
});

test('every other token of an issuer is refused', async () => {
  const { privateKey: stranger } = await generateKeyPair('ES256');
  const { privateKey: rsa } = await generateKeyPair('RS256');
  const spki = await exportSPKI(keys.publicKey);
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const full = { iss: issuer, aud: audience, exp: seconds(300), ...claims };
  const input = `${part({ alg: 'HS256', kid: 'one' })}.${part(full)}`;
  const [head = '', body = '', signature = ''] = (await sign()).split('.');
  const tokens: Record<string, string> = {
    expired: await sign({ exp: seconds(-60) }),
    'not yet good': await sign({ nbf: seconds(60) }),
    'without an end': await sign({ exp: undefined }),
    'without a subject': await sign({ sub: undefined }),
    'with a subject that is no text': await sign({ sub: 7 }),
    'with a subject that is a list': await sign({ sub: ['robot-7'] }),
    'for somebody else': await sign({ aud: 'https://other.example' }),
    'for nobody': await sign({ aud: undefined }),
    'of another issuer': await sign({ iss: 'https://issuer.example.evil' }),
    'of no issuer': await sign({ iss: undefined }),
    'without a project': await sign({ stepfast_project: undefined }),
    'of a project that is not there': await sign({ stepfast_project: 'west' }),
    'of a project by its prototype': await sign({ stepfast_project: '__proto__' }),
    'of a project that is no text': await sign({ stepfast_project: ['north'] }),
    'signed by a stranger': await sign({}, { key: stranger }),
    'signed with another algorithm': await sign({}, { key: rsa, alg: 'RS256' }),
    'with a key that is not known': await sign({}, { kid: 'two' }),
    unsigned: new UnsecuredJWT(full).encode(),
    'unsigned by its head': `${part({ alg: 'none', kid: 'one' })}.${body}.${signature}`,
    'signed with the public key as a secret': `${input}.${createHmac('sha256', spki).update(input).digest('base64url')}`,
    'without its signature': `${head}.${body}.`,
    'with another body': `${head}.${part({ ...full, stepfast_project: 'south' })}.${signature}`,
  };
  for (const [what, token] of Object.entries(tokens))
    expect(await whoami(token), what).toMatchObject({ status: 401, body: { code: 'unauthorized' } });
  expect(await whoami(await sign())).toMatchObject({ status: 200 });
});

test('where no issuer is known, a token of one is nothing', async () => {
  await using own = await startServer();
  expect(await own.call('GET', '/v1/whoami', { token: await sign() })).toMatchObject({ status: 401 });
});

test('where the keys of the issuer cannot be had, nobody is called a liar', async () => {
  const gone = new URL('http://127.0.0.1:9/keys');
  await using own = await startServer({ issuer: { issuer, audience: [audience], keys: gone } });
  const answer = await own.call('GET', '/v1/whoami', { token: await sign() });
  expect(answer).toMatchObject({ status: 503, body: { code: 'unavailable' } });
  expect(await own.call('GET', '/v1/whoami', { token: own.token('north') })).toMatchObject({ status: 200 });
});

test('another host or origin is refused before any token is looked at', async () => {
  const token = server.token('north');
  const { port } = server.listening;
  const { request } = await import('node:http');
  const statusFor = (headers: Record<string, string>, path = '/v1/whoami'): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      request(
        { port, host: '127.0.0.1', path, headers: { Authorization: `Bearer ${token}`, ...headers } },
        (response) => {
          response.resume();
          resolve(response.statusCode);
        },
      )
        .on('error', reject)
        .end();
    });
  expect(await statusFor({ Host: `127.0.0.1:${port}` })).toBe(200);
  expect(await statusFor({ Host: `localhost:${port}` })).toBe(200);
  expect(await statusFor({ Host: 'stepfast.example' })).toBe(200);
  for (const Host of [
    'evil.example',
    `evil.example:${port}`,
    '127.0.0.1',
    `127.0.0.1.evil.example:${port}`,
    'stepfast.example.evil',
  ])
    expect(await statusFor({ Host }), Host).toBe(403);
  expect(await statusFor({ Host: 'evil.example' }, '/.well-known/oauth-protected-resource')).toBe(403);
  expect(await statusFor({ Host: '10.0.0.7:9999' }, '/healthz')).toBe(200);
  const own = { Host: `127.0.0.1:${port}` };
  expect(await statusFor({ ...own, Origin: 'https://stepfast.example' })).toBe(200);
  for (const Origin of [
    'https://evil.example',
    'null',
    'http://stepfast.example',
    'https://stepfast.example.evil',
    `http://127.0.0.1:${port}`,
  ])
    expect(await statusFor({ ...own, Origin }), Origin).toBe(403);
});

test('a scope that is lacking is named', async () => {
  const run = await begin(server, server.token('north'));
  const [reader, writer] = [
    server.token('north', { scopes: ['read'] }),
    server.token('north', { scopes: ['write'] }),
  ];
  const tries = [
    [reader, 'POST', '/v1/runs', 'write'],
    [reader, 'POST', `/v1/runs/${run}/commands`, 'write'],
    [reader, 'DELETE', `/v1/runs/${run}`, 'admin'],
    [writer, 'GET', `/v1/runs/${run}`, 'read'],
    [writer, 'GET', '/v1/runs', 'read'],
    [writer, 'GET', '/v1/events', 'read'],
  ] as const;
  for (const [token, method, path, scope] of tries) {
    const body =
      method === 'POST' ? { body: { command: { type: 'note', kind: 'reminder', text: 'x' } } } : {};
    const refused = await server.call(method, path, { token, ...body });
    expect(refused, path).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    expect(refused.headers.get('www-authenticate')).toContain(`scope="${scope}"`);
  }
  const nothing = server.token('north', { scopes: [] });
  expect(await server.call('GET', '/v1/whoami', { token: nothing })).toMatchObject({ status: 200 });
  expect(await server.call('GET', '/v1/runs', { token: nothing })).toMatchObject({ status: 403 });
});

test('an agent is an agent, whoever it says it is', async () => {
  const agent = server.token('north', { name: 'robot' });
  const person = server.token('north', { kind: 'person', name: 'Ada' });
  const run = await begin(server, agent);
  const send = (token: string, command: object) =>
    server.call('POST', `/v1/runs/${run}/commands`, { token, body: { command } });
  const actors = async (): Promise<unknown> =>
    (await server.call('GET', `/v1/runs/${run}/entries`, { token: agent })).body.entries.at(-1).actor;

  const boss = { kind: 'person', name: 'Ada' };
  for (const command of [
    { type: 'answer', text: 'yes' },
    { type: 'proceed' },
    { type: 'rewind', to: 'plan' },
  ]) {
    const refused = await send(agent, command);
    expect(refused, command.type).toMatchObject({ status: 200, body: { reply: { code: 'person_only' } } });
  }
  // Somebody at a terminal that is logged in as an agent is told so.
  for (const command of [
    { type: 'answer', text: 'yes' },
    { type: 'proceed' },
    { type: 'rewind', to: 'plan' },
    { type: 'review', verdict: 'approve' },
    { type: 'cancel' },
    { type: 'dropTask', task: 'a', reason: 'x' },
  ])
    expect(await send(agent, { ...command, actor: boss }), command.type).toMatchObject({
      status: 403,
      body: {
        code: 'forbidden',
        message: expect.stringContaining("'robot'"),
        next: expect.stringContaining('stepfast login https://stepfast.example'),
      },
    });
  const cancelled = await send(agent, { type: 'cancel' });
  expect(cancelled).toMatchObject({ status: 403, body: { message: expect.stringContaining("'decide'") } });
  // An agent is not sent for a token that may.
  expect(cancelled.body.next).toContain('end your turn');

  await send(agent, { type: 'note', kind: 'reminder', text: 'by whom', actor: boss });
  // A token's name is no role.
  expect(await actors()).toEqual({ kind: 'agent' });
  // A role that decides nothing is believed; that of a reviewer is looked at below.
  await send(agent, {
    type: 'note',
    kind: 'decision',
    text: 'by a role',
    actor: { kind: 'agent', name: 'reviewer' },
  });
  expect(await actors()).toEqual({ kind: 'agent', name: 'reviewer' });
  // A person's own agent works with that person's token.
  await send(person, { type: 'note', kind: 'correction', text: 'by an agent' });
  expect(await actors()).toEqual({ kind: 'agent' });
  await send(person, {
    type: 'note',
    kind: 'correction',
    text: 'by Ada',
    key: 'who',
    actor: { kind: 'person', name: 'Bob' },
  });
  expect(await actors()).toEqual({ kind: 'person', name: 'Ada' });
  const plain = server.token('north', { kind: 'person', name: 'Eve', scopes: ['read', 'write'] });
  expect(await send(plain, { type: 'rewind', to: 'plan', actor: boss })).toMatchObject({
    body: { reply: { code: 'person_only' } },
  });
});

test('nobody approves their own work by a name, without a session or as the engine', async () => {
  const critic = { kind: 'agent', name: 'critic' };
  const robot = server.token('north', { name: 'robot' });
  const steps = [{ id: 'plan', type: 'action', instructions: 'Plan it', review: { by: 'critic' } }];
  const written = async (): Promise<(token: string, own: object) => ReturnType<HttpServer['call']>> => {
    const body = { definition: { ...definition, steps }, command: { type: 'start', session: 's1' } };
    const { run } = (await server.call('POST', '/v1/runs', { token: robot, body })).body;
    const send = (token: string, command: object) =>
      server.call('POST', `/v1/runs/${run}/commands`, { token, body: { command } });
    const done = await send(robot, { type: 'advance', output: 'planned', session: 's1' });
    expect(done.body.reply).toMatchObject({ waiting: { by: 'critic' } });
    return (token, own) => send(token, { type: 'review', verdict: 'approve', ...own });
  };
  const ada = server.token('north', { kind: 'person', name: 'Ada' });
  const approve = await written();
  for (const token of [robot, ada]) {
    for (const actor of [critic, { kind: 'engine' }, { kind: 'engine', name: 'critic' }, undefined]) {
      const said = actor ? { actor } : {};
      expect(await approve(token, { ...said, session: 's1' })).toMatchObject({
        body: { reply: { code: 'own_work' } },
      });
      for (const session of [{}, { session: '' }])
        expect(await approve(token, { ...said, ...session })).toMatchObject({
          status: 403,
          body: { code: 'forbidden', next: expect.stringContaining('session') },
        });
    }
  }
  // A reviewer with a token of its own.
  const own = server.token('north', { name: 'critic' });
  expect((await approve(own, { actor: critic, session: 's2' })).body.reply).toMatchObject({
    status: 'complete',
  });
  // A person needs no session.
  const again = await written();
  expect((await again(ada, { actor: { kind: 'person' } })).body.reply).toMatchObject({ status: 'complete' });
});

test('a run that is somewhere in the middle is begun only by whoever decides', async () => {
  const state = {
    status: 'running',
    step: 'build',
    stepType: 'action',
    tasks: {},
    outputs: { plan: 'never checked' },
    artefacts: [],
    contextActionExecuted: true,
  };
  const bring = (token: string) =>
    server.call('POST', '/v1/runs', { token, body: { definition, command: { type: 'import', state } } });
  const refused = await bring(server.token('north'));
  expect(refused).toMatchObject({ status: 403, body: { code: 'forbidden' } });
  const taken = await bring(server.token('north', { kind: 'person', name: 'Ada' }));
  expect(taken).toMatchObject({ status: 200, body: { reply: { step: 'build' } } });
});

test('what is adopted is the engine\u2019s where a token may report gates', async () => {
  const actorFor = async (scopes: readonly ('read' | 'write' | 'gates')[]): Promise<unknown> => {
    const token = server.token('north', { name: 'runner', scopes });
    const command = { type: 'adopt', adopted: { source: 'NOTES.md' }, actor: { kind: 'engine' } };
    const begun = await server.call('POST', '/v1/runs', { token, body: { definition, command } });
    expect(begun, begun.text).toMatchObject({ status: 200 });
    const { body } = await server.call('GET', `/v1/runs/${begun.body.run}/entries`, { token });
    return body.entries[0].actor;
  };
  expect(await actorFor(['read', 'write', 'gates'])).toEqual({ kind: 'engine', name: 'runner' });
  expect(await actorFor(['read', 'write'])).toEqual({ kind: 'agent' });
});

test('gates are reported only by whoever may', async () => {
  const token = server.token('north', { name: 'runner' });
  const run = await begin(server, token);
  const send = (by: string, command: object) =>
    server.call('POST', `/v1/runs/${run}/commands`, { token: by, body: { command } });
  const { body } = await send(token, { type: 'advance', output: 'done' });
  const { id } = body.effects[0];
  const writer = server.token('north', { scopes: ['read', 'write'] });
  const finished = {
    type: 'gatesFinished',
    id,
    receipts: [{ gate: 0, pass: true }],
    actor: { kind: 'engine' },
  };
  expect(await send(writer, finished)).toMatchObject({ status: 403, body: { code: 'forbidden' } });
  // Nobody is the engine by saying so.
  for (const by of [writer, token]) {
    await send(by, { type: 'note', kind: 'reminder', text: 'x', actor: { kind: 'engine' } });
    const { body: told } = await server.call('GET', `/v1/runs/${run}/entries`, { token });
    expect(told.entries.at(-1).actor.kind).toBe('agent');
  }
  expect(await send(token, finished)).toMatchObject({ status: 200, body: { reply: { step: 'build' } } });
});

test('who may only read changes nothing by looking', async () => {
  const token = server.token('north');
  const run = await begin(server, token);
  await server.call('POST', `/v1/runs/${run}/commands`, {
    token,
    body: { command: { type: 'advance', output: 'x' } },
  });
  const reader = server.token('north', { scopes: ['read'] });
  const looked = await server.call('POST', `/v1/runs/${run}/commands`, {
    token: reader,
    body: {
      command: { type: 'status', session: 'spy', runnerAlive: false },
      circumstances: { facts: { host: 'spy' } },
      key: 'k',
    },
  });
  expect(looked).toMatchObject({ status: 200, body: { changed: false, reply: { step: 'plan' } } });
  const { body } = await server.call('GET', `/v1/runs/${run}`, { token: reader });
  expect(body.version.seq).toBe(2);
  expect(body.state.sessions).toEqual({});
});

test('who guesses tokens is slowed down, and nobody else', async () => {
  let now = Date.now();
  await using own = await startServer({ limits: { failuresPerMinute: 5 }, clock: () => now, proxies: 1 });
  const token = own.token('north');
  const guess = (from: string, with_ = `sf_0_${'x'.repeat(43)}`) =>
    own.call('GET', '/v1/whoami', { token: with_, headers: { 'X-Forwarded-For': `1.2.3.4, ${from}` } });
  expect(await guess('10.0.0.1', token)).toMatchObject({ status: 200 });
  const statuses = [];
  for (let count = 0; count < 7; count += 1) statuses.push((await guess('10.0.0.1')).status);
  expect(statuses).toEqual([401, 401, 401, 401, 401, 429, 429]);
  expect(await guess('10.0.0.2')).toMatchObject({ status: 401 });
  // One that has just been good is good behind the same address, and so is one that was before.
  expect(await guess('10.0.0.1', token)).toMatchObject({ status: 200 });
  now += 3000;
  for (let count = 0; count < 3; count += 1) await guess('10.0.0.1');
  expect(await guess('10.0.0.1', token)).toMatchObject({ status: 200 });
  own.backend.revoke(hashToken(token));
  expect(await guess('10.0.0.1', token)).toMatchObject({ status: 429 });
  // From then on it is a guess like the others, and costs no look.
  let asked = 0;
  const find = own.backend.findToken;
  own.backend.findToken = (hash) => {
    asked += 1;
    return find(hash);
  };
  expect(await guess('10.0.0.1', token)).toMatchObject({ status: 429 });
  expect(asked).toBe(0);
  now += 61_000;
  expect(await guess('10.0.0.1')).toMatchObject({ status: 401 });
});

/** A server on which every look for a token takes until it is told to answer. */
async function slowServer() {
  const own = await startServer({ limits: { failuresPerMinute: 5 }, clock: () => 1_000_000_000_000 });
  const find = own.backend.findToken;
  const counts = { asked: 0 };
  own.backend.findToken = async (hash) => {
    counts.asked += 1;
    await sleep(30);
    return await find(hash);
  };
  const statuses = (tokens: readonly string[]): Promise<number[]> =>
    Promise.all(tokens.map(async (token) => (await own.call('GET', '/v1/whoami', { token })).status));
  return { own, counts, statuses };
}

test('many guesses at once are no more than one after the other', async () => {
  const { own, counts, statuses } = await slowServer();
  await using _ = own;
  const bad = Array.from({ length: 60 }, (_, at) => `sf_0_${String(at).padStart(43, 'x')}`);
  const answers = await statuses(bad);
  expect(counts.asked).toBe(5);
  expect(answers.filter((status) => status === 401)).toHaveLength(5);
  expect(answers.filter((status) => status === 429)).toHaveLength(55);
});

test('many good tokens may come at once from one address', async () => {
  const { own, statuses } = await slowServer();
  await using _ = own;
  const good = Array.from({ length: 30 }, () => own.token('north'));
  expect(new Set(await statuses(good))).toEqual(new Set([200]));
});

test('a token is not called bad because the database was away', async () => {
  const { own, statuses } = await slowServer();
  await using _ = own;
  const find = own.backend.findToken;
  own.backend.findToken = async () => {
    throw new StepfastError('store_failed', 'gone');
  };
  const good = Array.from({ length: 12 }, () => own.token('north'));
  for (const token of good) expect(await statuses([token])).toEqual([503]);
  own.backend.findToken = find;
  expect(await statuses(good.slice(0, 1))).toEqual([200]);
});
