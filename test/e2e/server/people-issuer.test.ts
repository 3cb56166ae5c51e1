/** A person's decision with a credential of an issuer, which is real. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { call } from '../../kit/server/http.ts';
import { startIssuer, type TestIssuer } from '../../kit/server/issuer.ts';
import { createPlace, typeIn, waitingRun } from '../../kit/server/place.ts';
import type { Served } from '../../kit/server/serve.ts';
import { type Shop, serveShop } from '../../kit/server/shop.ts';

let shop: Shop & { server: Served };

beforeAll(async () => {
  shop = await serveShop();
});
afterAll(async () => await shop[Symbol.asyncDispose]());

const asPerson = { type: 'review', verdict: 'approve', actor: { kind: 'person' } };

describe('S5: an issuer', () => {
  let issuer: TestIssuer;
  let own: Served;
  beforeAll(async () => {
    issuer = await startIssuer('the team server');
    own = await shop.cli.serve(
      '--no-jobs',
      ...['--issuer', issuer.url, '--jwks', `${issuer.url}/keys`, '--client-id', issuer.client],
      ...['--audience', 'the team server'],
    );
  });
  afterAll(() => issuer.close());
  const claims = {
    sub: 'ida-7',
    name: 'Ida',
    stepfast_project: 'shop',
    stepfast_kind: 'person',
    scope: 'read write decide',
  };

  test('gives the credential by device flow', async () => {
    const place = createPlace(shop.directory);
    const agent = await shop.cli.output('token', 'create', 'ida-laptop', '--project', 'shop');
    place.logIn(own.url, agent);
    const run = waitingRun(place);
    const terminal = await place.open('approve');
    await typeIn(terminal, [/\[y\/N\]/, 'y']);
    await terminal.waitFor(/CODE-1/);
    issuer.decide('CODE-1', claims);
    await terminal.waitFor(/exit 0/);
    await terminal.close();
    const { entries } = (await call(own.url, 'GET', `/v1/runs/${run}/entries`, { token: agent })).body;
    expect(entries.at(-1).actor).toMatchObject({
      kind: 'person',
      principal: { kind: 'person', issuer: issuer.url, subject: 'ida-7' },
    });
  });

  test('signs a browser in, whose cookie only reads', async () => {
    const post = (path: string, body: object) => call(own.url, 'POST', path, { body });
    const started = await post('/sign-in/device', {});
    expect(started).toMatchObject({ status: 200, body: { url: `${issuer.url}/activate`, seconds: 1 } });
    const { device, code } = started.body;
    expect(await post('/sign-in', { device })).toMatchObject({ status: 202 });
    issuer.decide(code, claims);
    const signed = await post('/sign-in', { device });
    expect(signed.status).toBe(200);
    const cookie = signed.headers
      .getSetCookie()
      .map((each) => each.split(';')[0])
      .join('; ');
    const { body } = await call(own.url, 'GET', '/v1/overview', { headers: { cookie } });
    expect(body.me).toMatchObject({ kind: 'person', mayDecide: true });
    const kept = cookie.split('=')[1] ?? '';
    expect((await call(own.url, 'GET', '/v1/whoami', { token: kept })).body.scopes).toEqual(['read']);
    const decides = await call(own.url, 'GET', '/v1/whoami', { token: signed.body.token });
    expect(decides.body.scopes).toContain('decide');
    issuer.decide(code, { ...claims, stepfast_kind: 'agent' });
    expect(await post('/sign-in', { device })).toMatchObject({ status: 403 });
    expect(await call(shop.server.url, 'POST', '/sign-in/device', { body: {} })).toMatchObject({
      status: 404,
    });
  });

  test('that says no changes nothing, and its longer tokens do not decide', async () => {
    const place = createPlace(shop.directory);
    const agent = await shop.cli.output('token', 'create', 'joe-laptop', '--project', 'shop');
    place.logIn(own.url, agent);
    const run = waitingRun(place);
    const terminal = await place.open('approve');
    await typeIn(terminal, [/\[y\/N\]/, 'y']);
    await terminal.waitFor(/CODE-\d/);
    issuer.decide(issuer.codes.at(-1) ?? '', 'denied');
    await terminal.waitFor(/access_denied[\s\S]*exit [1-9]/);
    await terminal.close();
    const long = await issuer.sign(claims, 3600);
    expect((await call(own.url, 'GET', '/v1/whoami', { token: long })).body.scopes).toEqual([
      'read',
      'write',
    ]);
    const body = { command: asPerson };
    expect(await call(own.url, 'POST', `/v1/runs/${run}/commands`, { token: long, body })).toMatchObject({
      status: 403,
      body: { code: 'credential_required' },
    });
  });
});
