import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type CryptoKey, exportJWK, exportSPKI, generateKeyPair, SignJWT, UnsecuredJWT } from 'jose';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type HttpServer, startServer } from '../../test/kit/server/http.ts';
import { hashToken } from './index.ts';

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
    issuer: { issuer, audience: resources, keys: keyUrl, client: { id: 'terminal', scope: 'openid decide' } },
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
  const payload = { iss: issuer, aud: audience, iat: seconds(0), exp: seconds(300), ...claims, ...own };
  return await new SignJWT(payload).setProtectedHeader({ alg, kid }).sign(key);
}

const whoami = (token?: string, headers: Record<string, string> = {}) =>
  server.call('GET', '/v1/whoami', { headers, ...(token === undefined ? {} : { token }) });

test('a call without a token is refused and names the source of tokens', async () => {
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
    scopes_supported: ['read', 'write', 'gates'],
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
      azp: 'terminal',
      aud: [`${audience}/mcp`, 'other'],
    }),
  );
  expect(person.body).toEqual({
    project: 'north',
    kind: 'person',
    name: 'Ada (robot-7)',
    scopes: ['read', 'decide'],
  });
  // What lives longer than some minutes does not decide.
  const deciding = { stepfast_kind: 'person', scope: 'read decide admin join', azp: 'terminal' };
  const long = await sign({ ...deciding, exp: seconds(3600) });
  expect((await whoami(long)).body.scopes).toEqual(['read']);
  // Nor what another client got, which may keep it on a disk; no person's token deletes or invites.
  for (const client of [
    { azp: 'mcp-client' },
    { azp: undefined, client_id: 'mcp-client' },
    { azp: undefined },
  ])
    expect((await whoami(await sign({ ...deciding, ...client }))).body.scopes).toEqual(['read']);
  const named = await sign({ ...deciding, azp: undefined, client_id: 'terminal' });
  expect((await whoami(named)).body.scopes).toEqual(['read', 'decide']);
  // A name that equals the subject is shown once.
  expect((await whoami(await sign({ name: 'robot-7' }))).body.name).toBe('robot-7');
  const cut = (await whoami(await sign({ name: 'A'.repeat(500) }))).body.name;
  expect(cut).toMatch(/^A{100} \(robot-7\)$/);
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
    'for another audience': await sign({ aud: 'https://other.example' }),
    'for no audience': await sign({ aud: undefined }),
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

test('where the keys of the issuer cannot be fetched, tokens are not called invalid', async () => {
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
