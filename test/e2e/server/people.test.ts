/** A person's decision: never with what lies on a disk. Real terminals, a real issuer. */
import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hashToken, newToken } from '../../../src/token-format.ts';
import { type Cluster, startCluster } from '../../kit/postgres.ts';
import { openTerminal, type Terminal } from '../../kit/terminal.ts';
import { call } from './http-kit.ts';
import { startIssuer, type TestIssuer } from './issuer-kit.ts';
import { becomePerson, credentialOf, passphrase } from './person-kit.ts';
import { type Cli, createCli, type Served } from './serve-kit.ts';

const main = join(import.meta.dirname, '../../../dist/cli.js');
const workflow = `name: feature
description: Frame it
steps:
  - { id: frame, type: action, instructions: Frame it., review: { by: human } }
`;

let cluster: Cluster;
let cli: Cli;
let server: Served;
let directory: string;
let places = 0;

beforeAll(async () => {
  cluster = await startCluster({ fsync: false });
  directory = realpathSync(mkdtempSync(join(tmpdir(), 'stepfast-people-')));
  cli = createCli({ HOME: directory, STEPFAST_DATABASE_URL: await cluster.createDatabase('people') });
  await cli.output('migrate');
  await cli.output('project', 'create', 'shop');
  server = await cli.serve('--no-jobs');
});
afterAll(async () => {
  cli.dispose();
  await cluster.dispose();
  rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
});

const invitationFor = (name: string): Promise<string> =>
  cli.output('token', 'create', name, '--project', 'shop', '--kind', 'person');

/** The machine of a person: a home and a checkout. */
interface Place {
  root: string;
  env: Record<string, string>;
  /** The token that lies on its disk. */
  login(): string;
  open(args: string, more?: Record<string, string>): Promise<Terminal>;
  run(...args: string[]): string;
}

function createPlace(): Place {
  const home = join(directory, `place-${++places}`);
  const root = join(home, 'shop');
  mkdirSync(join(root, '.stepfast/workflows'), { recursive: true });
  writeFileSync(join(root, '.stepfast/workflows/feature.yaml'), workflow);
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: home,
    LANG: 'C.UTF-8',
    XDG_STATE_HOME: join(home, 'state'),
    STEPFAST_MACHINE: `machine-${places}`,
  };
  execFileSync('git', ['init', '-q', root], { env });
  const servers = join(home, 'state/stepfast/servers');
  return {
    root,
    env,
    login: () => {
      const [file = ''] = readdirSync(servers);
      return JSON.parse(readFileSync(join(servers, file), 'utf8')).token;
    },
    open: (args, more = {}) =>
      openTerminal({
        directory: mkdtempSync(join(home, 'tmux-')),
        command: ['sh', '-c', `'${process.execPath}' '${main}' ${args}; echo "exit $?"; sleep 1000`],
        cwd: root,
        env: { ...env, ...more },
        columns: 120,
        rows: 40,
      }),
    run: (...args) =>
      execFileSync(process.execPath, [main, ...args], { cwd: root, env, encoding: 'utf8', stdio: 'pipe' }),
  };
}

async function typeIn(terminal: Terminal, ...steps: [RegExp, string][]): Promise<void> {
  for (const [seen, text] of steps) {
    await terminal.waitFor(seen);
    await terminal.type(text);
    await terminal.press('Enter');
  }
}

/** Logs in with an invitation, as a person at a terminal. */
async function logIn(place: Place, invitation: string): Promise<void> {
  const terminal = await place.open(`login ${server.url}`);
  await typeIn(
    terminal,
    [/Token for .*:/, invitation],
    [/Choose a passphrase/, passphrase],
    [/Type it again/, passphrase],
  );
  await terminal.waitFor(/exit 0/);
  await terminal.close();
}

/** A run of the place that waits for a person. */
function waitingRun(place: Place): string {
  const { run } = JSON.parse(place.run('start', 'feature', '--json'));
  place.run('advance', 'Framed', '--json');
  return run;
}

const review = { type: 'review', verdict: 'approve' };
const asPerson = { ...review, actor: { kind: 'person' } };
const send = (token: string, run: string, command: object) =>
  call(server.url, 'POST', `/v1/runs/${run}/commands`, { token, body: { command } });
const stateOf = async (token: string, run: string) =>
  (await call(server.url, 'GET', `/v1/runs/${run}`, { token })).body.state;

describe('S5: a decision at a terminal', () => {
  test('takes a passphrase, and what lies on the disk decides nothing', async () => {
    const place = createPlace();
    await logIn(place, await invitationFor('Ada'));
    const run = waitingRun(place);
    const login = place.login();
    expect((await call(server.url, 'GET', '/v1/whoami', { token: login })).body).toMatchObject({
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
    const { entries } = (await call(server.url, 'GET', `/v1/runs/${run}/entries`, { token: login })).body;
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
    const place = createPlace();
    await logIn(place, await invitationFor('Bea'));
    const run = waitingRun(place);
    for (const command of ['approve', 'publish feature']) {
      const terminal = await place.open(command, { CLAUDECODE: '1' });
      await terminal.waitFor(/exit 1/);
      expect(await terminal.history()).toContain('CLAUDECODE is set');
      expect(await terminal.history()).not.toMatch(/passphrase/i);
      await terminal.close();
    }
    const joining = await place.open(`login ${server.url}`, { CLAUDECODE: '1' });
    await typeIn(joining, [/Token for .*:/, await invitationFor('Cid')]);
    await joining.waitFor(/exit 1/);
    expect(await joining.history()).toContain('CLAUDECODE is set');
    await joining.close();
    expect(await stateOf(place.login(), run)).toMatchObject({ status: 'waiting' });
  });
});

describe('S5: a passphrase', () => {
  test('is tried five times a minute with one token, and nobody else is kept out', async () => {
    const dora = await becomePerson(server.url, await invitationFor('Dora'));
    const ed = await becomePerson(server.url, await invitationFor('Ed'));
    const guess = async (token: string) =>
      (await call(server.url, 'POST', '/v1/credentials', { token, body: { passphrase: 'a wrong guess' } }))
        .body.code;
    const guesses = [];
    for (let each = 0; each < 7; each += 1) guesses.push(await guess(dora.login));
    expect(guesses.slice(0, 5)).toEqual(Array(5).fill('wrong_passphrase'));
    expect(guesses.slice(5)).toContain('too_many_tries');
    expect(await credentialOf(server.url, ed.login)).toMatch(/^sf_/);
    const browser = { project: 'shop', name: 'Dora', passphrase };
    expect(await call(server.url, 'POST', '/sign-in', { body: browser })).toMatchObject({ status: 204 });
  });

  test('is set by an invitation, once', async () => {
    const invitation = await invitationFor('Fay');
    const { login } = await becomePerson(server.url, invitation);
    const join = (token: string, words = passphrase) =>
      call(server.url, 'POST', '/v1/people', { token, body: { passphrase: words } });
    await expect.poll(async () => (await join(invitation)).status, { timeout: 30_000 }).toBe(401);
    expect(await join(login)).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    const short = await join(await invitationFor('Fay'), 'short');
    expect(short).toMatchObject({ status: 422 });
    const read = await call(server.url, 'GET', '/v1/runs', { token: await invitationFor('Fay') });
    expect(read).toMatchObject({ status: 403 });
  });

  test('gives a credential that ends in minutes, and with the login', async () => {
    const { login, credential } = await becomePerson(server.url, await invitationFor('Gus'));
    const who = (token: string) => call(server.url, 'GET', '/v1/whoami', { token });
    expect((await who(credential)).body).toMatchObject({ kind: 'person', name: 'Gus' });
    const [{ seconds }] = (await cluster.query(
      'people',
      `select extract(epoch from expires_at - now())::int as seconds from stepfast.tokens where hash = $1`,
      [hashToken(credential)],
    )) as [{ seconds: number }];
    expect(seconds).toBeLessThanOrEqual(300);
    const listed = JSON.parse(await cli.output('token', 'list', '--project', 'shop', '--json')).tokens;
    expect(
      listed.filter(({ name }: { name: string }) => name === 'Gus').map(({ kind }: { kind: string }) => kind),
    ).toEqual(['person', 'agent']);
    const { id } = listed.findLast(({ name }: { name: string }) => name === 'Gus');
    await cli.output('token', 'revoke', id, '--project', 'shop');
    for (const token of [login, credential])
      await expect.poll(async () => (await who(token)).status, { timeout: 30_000 }).toBe(401);
  });
});

test('S5: a person’s token of an earlier version decides nothing, and doctor names it', async () => {
  const place = createPlace();
  const { id, token } = newToken();
  await cluster.query(
    'people',
    `insert into stepfast.tokens (id, project, hash, kind, name, scopes)
      select $1, id, $2, 'person', 'Hal', array['read', 'write', 'gates', 'decide'] from stepfast.projects where name = 'shop'`,
    [id, hashToken(token)],
  );
  execFileSync(process.execPath, [main, 'login', server.url, '--token-stdin'], {
    cwd: place.root,
    env: place.env,
    input: token,
  });
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
      what: server.url,
      state: 'wrong',
      says: expect.stringContaining('no longer decides'),
    }),
  );
});

describe('S5: an issuer', () => {
  let issuer: TestIssuer;
  let own: Served;
  beforeAll(async () => {
    issuer = await startIssuer('the team server');
    own = await cli.serve(
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
    const place = createPlace();
    const agent = await cli.output('token', 'create', 'ida-laptop', '--project', 'shop');
    execFileSync(process.execPath, [main, 'login', own.url, '--token-stdin'], {
      cwd: place.root,
      env: place.env,
      input: agent,
    });
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

  test('signs a browser in, whose cookie decides for the minutes of its token', async () => {
    const post = (path: string, body: object) => call(own.url, 'POST', path, { body });
    const started = await post('/sign-in/device', {});
    expect(started).toMatchObject({ status: 200, body: { url: `${issuer.url}/activate`, seconds: 1 } });
    const { device, code } = started.body;
    expect(await post('/sign-in', { device })).toMatchObject({ status: 202 });
    issuer.decide(code, claims);
    const signed = await post('/sign-in', { device });
    expect(signed.status).toBe(204);
    const cookie = signed.headers
      .getSetCookie()
      .map((each) => each.split(';')[0])
      .join('; ');
    const { body } = await call(own.url, 'GET', '/v1/overview', { headers: { cookie } });
    expect(body.me).toMatchObject({ kind: 'person', mayDecide: true });
    issuer.decide(code, { ...claims, stepfast_kind: 'agent' });
    expect(await post('/sign-in', { device })).toMatchObject({ status: 403 });
    expect(await call(server.url, 'POST', '/sign-in/device', { body: {} })).toMatchObject({ status: 404 });
  });

  test('that says no changes nothing, and its longer tokens do not decide', async () => {
    const place = createPlace();
    const agent = await cli.output('token', 'create', 'joe-laptop', '--project', 'shop');
    execFileSync(process.execPath, [main, 'login', own.url, '--token-stdin'], {
      cwd: place.root,
      env: place.env,
      input: agent,
    });
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
