/** A person's decision: never with what lies on a disk. Real terminals. */
import { execFileSync, spawnSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hashToken, newToken } from '../../../src/token-format.ts';
import { call } from '../../kit/server/http.ts';
import { becomePerson, passphrase } from '../../kit/server/person.ts';
import { createPlace, main, type Place, typeIn, waitingRun } from '../../kit/server/place.ts';
import type { Served } from '../../kit/server/serve.ts';
import { type Shop, serveShop } from '../../kit/server/shop.ts';

const browserWorkflow = {
  name: 'feature',
  description: 'Frame it',
  type: 'custom',
  steps: [{ id: 'frame', type: 'action', instructions: 'Frame it.' }],
};

let shop: Shop & { server: Served };

beforeAll(async () => {
  shop = await serveShop();
});
afterAll(async () => await shop[Symbol.asyncDispose]());

const invitationFor = (name: string): Promise<string> =>
  shop.cli.output('token', 'create', name, '--project', 'shop', '--kind', 'person');

/** Logs in with an invitation, as a person at a terminal. */
async function logIn(place: Place, invitation: string): Promise<void> {
  const terminal = await place.open(`login ${shop.server.url}`);
  await typeIn(
    terminal,
    [/Token or invitation for .*:/, invitation],
    [/Choose a passphrase/, passphrase],
    [/Type it again/, passphrase],
  );
  await terminal.waitFor(/exit 0/);
  await terminal.close();
}

const review = { type: 'review', verdict: 'approve' };
const asPerson = { ...review, actor: { kind: 'person' } };
const send = (token: string, run: string, command: object) =>
  call(shop.server.url, 'POST', `/v1/runs/${run}/commands`, { token, body: { command } });
const stateOf = async (token: string, run: string) =>
  (await call(shop.server.url, 'GET', `/v1/runs/${run}`, { token })).body.state;

describe('S5: a decision at a terminal', () => {
  test('takes a passphrase, and what lies on the disk decides nothing', async () => {
    const place = createPlace(shop.directory);
    await logIn(place, await invitationFor('Ada'));
    const run = waitingRun(place);
    const login = place.login();
    expect((await call(shop.server.url, 'GET', '/v1/whoami', { token: login })).body).toMatchObject({
      kind: 'agent',
      name: 'Ada',
      scopes: ['read', 'write', 'gates'],
    });
    expect(await send(login, run, asPerson)).toMatchObject({
      status: 403,
      body: { code: 'credential_required' },
    });
    expect((await send(login, run, { ...review, session: 's' })).body.reply).toMatchObject({
      code: 'person_only',
    });
    expect(await send(login, run, { type: 'cancel', reason: 'x' })).toMatchObject({ status: 403 });
    expect(await stateOf(login, run)).toMatchObject({ status: 'waiting' });

    const terminal = await place.open('approve');
    await typeIn(
      terminal,
      [/\[y\/N\]/, 'y'],
      [/Passphrase of Ada/, 'not this one'],
      [/Wrong[\s\S]*Passphrase/, passphrase],
    );
    await terminal.waitFor(/exit 0/);
    expect(await terminal.history()).not.toContain(passphrase);
    await terminal.close();
    expect(await stateOf(login, run)).toMatchObject({ status: 'complete' });
    const { entries } = (await call(shop.server.url, 'GET', `/v1/runs/${run}/entries`, { token: login }))
      .body;
    expect(entries.at(-1).actor).toMatchObject({
      kind: 'person',
      principal: { kind: 'person', subject: 'Ada' },
    });
    const left = execFileSync('grep', ['-rlE', `${passphrase}|sf_`, place.env.HOME ?? ''], {
      encoding: 'utf8',
    });
    expect(left.trim().split('\n')).toHaveLength(1);
    expect(left).toContain('/servers/');
  });

  test('is never asked for inside an agent’s session', async () => {
    const place = createPlace(shop.directory);
    await logIn(place, await invitationFor('Bea'));
    const run = waitingRun(place);
    for (const command of ['approve', 'publish feature']) {
      const terminal = await place.open(command, { CLAUDECODE: '1' });
      await terminal.waitFor(/exit 1/);
      expect(await terminal.history()).toContain('CLAUDECODE is set');
      expect(await terminal.history()).not.toMatch(/passphrase/i);
      await terminal.close();
    }
    const joining = await place.open(`login ${shop.server.url}`, { CLAUDECODE: '1' });
    await typeIn(joining, [/Token or invitation for .*:/, await invitationFor('Cid')]);
    await joining.waitFor(/exit 1/);
    expect(await joining.history()).toContain('CLAUDECODE is set');
    await joining.close();
    expect(await stateOf(place.login(), run)).toMatchObject({ status: 'waiting' });
  });
});

describe('S5: a passphrase', () => {
  test('of a browser reads with its cookie, and decides with what only the page has', async () => {
    const { login } = await becomePerson(shop.server.url, await invitationFor('Dan'));
    const { run } = (
      await call(shop.server.url, 'POST', '/v1/runs', {
        token: login,
        body: { definition: browserWorkflow, command: { type: 'start' } },
      })
    ).body;
    const signed = await call(shop.server.url, 'POST', '/sign-in', {
      body: { project: 'shop', name: 'Dan', passphrase },
    });
    const [cookie = '', ...others] = signed.headers.getSetCookie();
    expect(others).toEqual([]);
    const [, kept = ''] = /^stepfast_token=([^;]+); .*HttpOnly.*SameSite=Strict/.exec(cookie) ?? [];
    expect((await call(shop.server.url, 'GET', '/v1/whoami', { token: kept })).body.scopes).toEqual(['read']);
    const cancel = { command: { type: 'cancel', actor: { kind: 'person' } } };
    const path = `/v1/runs/${run}/commands`;
    const headers = { cookie: `stepfast_token=${kept}`, origin: shop.server.url };
    expect(await call(shop.server.url, 'POST', path, { headers, body: cancel })).toMatchObject({
      status: 403,
      body: { code: 'credential_required' },
    });
    const decided = await call(shop.server.url, 'POST', path, { token: signed.body.token, body: cancel });
    expect(decided.body.reply).toMatchObject({ status: 'cancelled' });
  });

  test('is set by an invitation, once', async () => {
    const invitation = await invitationFor('Fay');
    const { login } = await becomePerson(shop.server.url, invitation);
    const join = (token: string, words = passphrase) =>
      call(shop.server.url, 'POST', '/v1/people', { token, body: { passphrase: words } });
    await expect.poll(async () => (await join(invitation)).status).toBe(401);
    expect(await join(login)).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    const short = await join(await invitationFor('Fay'), 'short');
    expect(short).toMatchObject({ status: 422 });
    const other = await invitationFor('Fay');
    expect(await call(shop.server.url, 'GET', '/v1/runs', { token: other })).toMatchObject({ status: 403 });
    // The next one ends all others for the same person.
    await becomePerson(shop.server.url, await invitationFor('Fay'));
    await expect.poll(async () => (await join(other)).status).toBe(401);
  });

  test('gives a credential that ends in minutes, and with the login', async () => {
    const { login, credential } = await becomePerson(shop.server.url, await invitationFor('Gus'));
    const who = (token: string) => call(shop.server.url, 'GET', '/v1/whoami', { token });
    expect((await who(credential)).body).toMatchObject({ kind: 'person', name: 'Gus' });
    const { root: cwd, env } = createPlace(shop.directory);
    const args = [main, 'login', shop.server.url, '--token-stdin', '--json'];
    const kept = spawnSync(process.execPath, args, { cwd, env, input: credential, encoding: 'utf8' });
    expect([kept.status, JSON.parse(kept.stdout)]).toMatchObject([1, { code: 'person_only' }]);
    const [{ seconds }] = (await shop.sql(
      `select extract(epoch from expires_at - now())::int as seconds from stepfast.tokens where hash = $1`,
      [hashToken(credential)],
    )) as [{ seconds: number }];
    expect(seconds).toBeLessThanOrEqual(300);
    const listed = JSON.parse(await shop.cli.output('token', 'list', '--project', 'shop', '--json')).tokens;
    expect(
      listed.filter(({ name }: { name: string }) => name === 'Gus').map(({ kind }: { kind: string }) => kind),
    ).toEqual(['person', 'agent']);
    const { id } = listed.findLast(({ name }: { name: string }) => name === 'Gus');
    await shop.cli.output('token', 'revoke', id, '--project', 'shop');
    for (const token of [login, credential])
      await expect.poll(async () => (await who(token)).status).toBe(401);
  });
});

test('S5: a person who was removed neither signs in nor works, and others stay', async () => {
  const kim = await becomePerson(shop.server.url, await invitationFor('Kim'));
  const lou = await becomePerson(shop.server.url, await invitationFor('Lou'));
  const invitation = await invitationFor('Kim');
  const people = async () =>
    JSON.parse(await shop.cli.output('people', 'list', '--project', 'shop', '--json')).people.map(
      ({ name }: { name: string }) => name,
    );
  expect(await people()).toEqual(expect.arrayContaining(['Kim', 'Lou']));
  await shop.cli.output('people', 'remove', 'Kim', '--project', 'shop');
  expect(await people()).not.toContain('Kim');
  const who = (token: string) => call(shop.server.url, 'GET', '/v1/whoami', { token });
  for (const token of [kim.login, kim.credential, invitation])
    await expect.poll(async () => (await who(token)).status).toBe(401);
  const signIn = (name: string) =>
    call(shop.server.url, 'POST', '/sign-in', { body: { project: 'shop', name, passphrase } });
  expect(await signIn('Kim')).toMatchObject({ status: 403, body: { code: 'wrong_passphrase' } });
  expect(await signIn('Lou')).toMatchObject({ status: 200 });
  expect(await who(lou.credential)).toMatchObject({ status: 200 });
  await expect(shop.cli.output('people', 'remove', 'Kim', '--project', 'shop')).rejects.toThrow();
});

test('S5: a person’s token of an earlier version decides nothing, and doctor names it', async () => {
  const place = createPlace(shop.directory);
  const { id, token } = newToken();
  await shop.sql(
    `insert into stepfast.tokens (id, project, hash, kind, name, scopes)
      select $1, id, $2, 'person', 'Hal', array['read', 'write', 'gates', 'decide'] from stepfast.projects where name = 'shop'`,
    [id, hashToken(token)],
  );
  place.logIn(shop.server.url, token);
  const run = waitingRun(place);
  expect(await send(token, run, asPerson)).toMatchObject({
    status: 403,
    body: { code: 'credential_required' },
  });
  let said = '';
  try {
    said = place.run('doctor', '--json');
  } catch (error) {
    said = String((error as { stdout?: string }).stdout);
  }
  const { sections } = JSON.parse(said);
  expect(sections.flatMap(({ checks }: { checks: object[] }) => checks)).toContainEqual(
    expect.objectContaining({
      what: shop.server.url,
      state: 'wrong',
      says: expect.stringContaining('no longer decides'),
    }),
  );
});
