/** Each cell of the table in SECURITY.md, on a real server. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type PrincipalName, principals, type Row, rows } from '../../../scripts/threat-model.ts';
import { type Answered, call, definition } from '../../kit/server/http.ts';
import { startIssuer, type TestIssuer } from '../../kit/server/issuer.ts';
import { becomePerson } from '../../kit/server/person.ts';
import type { Served } from '../../kit/server/serve.ts';
import { openShop, type Shop } from '../../kit/server/shop.ts';

type Tokens = Partial<Record<PrincipalName, string>>;

let shop: Shop;
let issuer: TestIssuer;
let server: Served;
let tokens: Tokens;

beforeAll(async () => {
  shop = await openShop();
  issuer = await startIssuer('the team server');
});
afterAll(async () => {
  issuer?.close();
  await shop?.[Symbol.asyncDispose]();
});

/** Of the server's own, and of an issuer that grants every scope to everybody. */
const kinds: Record<string, { serve(): Promise<Served>; tokens(): Promise<Tokens>; has(row: Row): boolean }> =
  {
    tokens: {
      serve: () => shop.cli.serve('--no-jobs'),
      async tokens() {
        const [agent, runner, admin] = await Promise.all(
          ['agent', 'runner', 'admin'].map((kind) => shop.token(kind, kind)),
        );
        const invitation = await shop.token('invited', 'person');
        const { credential } = await becomePerson(server.url, await shop.token('Ada', 'person'));
        return { agent, runner, admin, invitation, person: credential } as Tokens;
      },
      has: () => true,
    },
    'tokens of an issuer': {
      serve: () =>
        shop.cli.serve(
          '--no-jobs',
          ...['--issuer', issuer.url, '--jwks', `${issuer.url}/keys`, '--client-id', issuer.client],
          ...['--audience', 'the team server'],
        ),
      async tokens() {
        const claims = { stepfast_project: 'shop', scope: 'read write gates decide join' };
        const sign = (kind: string, more: object = {}) =>
          issuer.sign({ ...claims, sub: kind, stepfast_kind: kind, ...more });
        const [agent, runner, person, admin] = await Promise.all([
          sign('agent'),
          sign('runner'),
          sign('person', { scope: `${claims.scope} admin` }),
          sign('admin', { scope: 'read admin decide' }),
        ]);
        return { agent, runner, person, admin } as Tokens;
      },
      // Nobody chooses a passphrase there, and an issuer makes the tokens of sessions.
      has: ({ action }) => action !== 'Choose a passphrase' && action !== 'Make tokens for sessions',
    },
  };

const at = 'x:plan#1';
const runner = { pid: 1, host: 'h' };
/** What a command needs besides its type. */
const fields: Record<string, object> = {
  advance: { output: 'x' },
  check: { output: 'x', at },
  fail: { reason: 'x' },
  block: { at, reason: 'x' },
  setTasks: { loop: 'l', tasks: [] },
  dropTask: { task: 't', reason: 'x' },
  claim: { holder: 'own' },
  prepared: { at },
  gatesStarted: { id: 'x!1', deadline: 5, runner },
  gatesFinished: { id: 'x!1', receipts: [], runner },
  cleanupStarted: { runner },
  cleanupFinished: { runner, step: 'clean', pass: true },
  drive: { change: 'take', process: { pid: 1, machine: 'm' } },
  mergeStarted: { epoch: 1, task: 't', base: 'b', commit: 'c' },
  mergeFinished: { epoch: 1, task: 't', result: 'merged' },
  holdQueue: { epoch: 1 },
  retryMerge: { task: 't' },
  review: { verdict: 'approve', session: 'own' },
  ask: { text: 'x' },
  answer: { text: 'x' },
  note: { kind: 'reminder', text: 'x' },
  todo: { content: 'x' },
  read: { path: 'p', hash: 'h' },
  loaded: { trigger: 'manual', artifacts: [] },
  boundary: { by: 'hook', saw: 'clear' },
  session: { session: 'own', event: { type: 'started' } },
  spend: { turns: 1 },
  rewind: { to: 'plan' },
  adopt: { adopted: { source: 'NOTES.md' } },
  import: {
    state: {
      ...{ status: 'running', step: 'build', stepType: 'action', tasks: {} },
      ...{ outputs: { plan: 'x' }, artefacts: [], contextActionExecuted: true },
    },
  },
};
/** What a route needs. */
const bodies: Record<string, object> = {
  'POST /v1/credentials': { passphrase: 'a wrong passphrase' },
  'POST /sign-in': { project: 'shop', name: 'Ada', passphrase: 'a wrong passphrase' },
  'POST /v1/people': { passphrase: 'a new passphrase' },
  'POST /v1/runs': { definition, command: { type: 'start' } },
  'POST /v1/runs/:run/commands': { command: { type: 'status' } },
  'POST /v1/workflows': { definition },
  'POST /v1/tokens': { name: 'session', seconds: 60 },
  'POST /mcp': { jsonrpc: '2.0', id: 1, method: 'ping' },
};
const openings = ['start', 'adopt', 'import'];

async function tryOne(what: string, who: PrincipalName, { asPerson }: Row): Promise<Answered> {
  const token = tokens[who];
  const given = token === undefined ? {} : { token };
  const headers = { Accept: 'application/json, text/event-stream', Origin: server.url };
  const [method = '', path = ''] = what.split(' ');
  if (path !== '') {
    const filled = path.replace(':run', 'x-20261118-aaaaaaaa').replace(':digest', `sha256:${'0'.repeat(64)}`);
    const query = /\/(log|watch)$/.test(filled) ? { log: '?check=c&gate=0', watch: '?ms=0' } : {};
    const asked = `${filled.replace(':name', 'go')}${query[filled.split('/').at(-1) as 'log'] ?? ''}`;
    if (path.endsWith('/events')) return await opened(asked, { ...given, headers });
    const body = bodies[what];
    return await call(server.url, method, asked, { ...given, headers, ...(body && { body }) });
  }
  const actor = asPerson ? { actor: { kind: 'person' } } : {};
  const command = { type: what, ...fields[what], ...actor };
  if (openings.includes(what))
    return await call(server.url, 'POST', '/v1/runs', { ...given, body: { definition, command } });
  const start = { definition, command: { type: 'start' } };
  const { body } = await call(server.url, 'POST', '/v1/runs', { token: tokens.agent ?? '', body: start });
  return await call(server.url, 'POST', `/v1/runs/${body.run}/commands`, { ...given, body: { command } });
}

/** A stream does not end: its beginning is enough. */
async function opened(path: string, { token, headers }: { token?: string; headers: object }) {
  const stop = new AbortController();
  const response = await fetch(`${server.url}${path}`, {
    headers: { ...headers, ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }) },
    signal: stop.signal,
  });
  stop.abort();
  return { status: response.status, headers: response.headers, text: '', body: undefined };
}

const names = Object.keys(principals) as PrincipalName[];

describe.each(Object.entries(kinds))('%s', (_, kind) => {
  beforeAll(async () => {
    server = await kind.serve();
    tokens = await kind.tokens();
  });
  afterAll(async () => await server.stop());

  describe.each(rows.filter(kind.has).map((row) => ({ ...row, name: row.action })))('$name', (row) => {
    test.each(names)('as %s', async (who) => {
      if (who !== 'nobody' && tokens[who] === undefined) return expect(who).toBe('invitation');
      for (const what of row.does) {
        const uses = what === 'POST /v1/people' && who === 'invitation';
        if (uses) tokens.invitation = await shop.token('invited', 'person');
        const { status, body, text } = await tryOne(what, who, row);
        expect(status, `${what}: ${text}`).toBeLessThan(500);
        expect(status, `${what}: ${text}`).not.toBe(422);
        const isRefused = [401, 403, 429].includes(status) || body?.reply?.code === 'person_only';
        expect([what, isRefused ? 'no' : 'yes', text]).toEqual([
          what,
          row.may[who] === 'no' ? 'no' : 'yes',
          text,
        ]);
        if (uses) tokens.invitation = await shop.token('invited', 'person');
      }
    });
  });
});
