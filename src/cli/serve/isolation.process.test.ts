import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDatabase, type OwnedDatabase } from '../../../test/kit/database.ts';
import { hostileCalls } from '../../../test/kit/server/hostile-calls.ts';
import {
  type Answered,
  definition,
  type Http,
  readEvents,
  startHttp,
} from '../../../test/kit/server/http.ts';
import { attempts, type Side } from '../../../test/kit/server/isolation-attempts.ts';
import type { Definition } from '../../machine/index.ts';
import { type Backend, routes } from '../../server/index.ts';
import { hashPassphrase } from '../../server/passphrase.ts';
import { createProjects, createTokens } from '../../store/postgres/index.ts';
import { openBackend } from './backend.ts';
import { createMcpTools } from './mcp-tools.ts';

let database: OwnedDatabase;
let backend: Backend;
let http: Http;
let north: Side;
let south: Side;

beforeAll(async () => {
  database = await createDatabase();
  const { url } = database;
  backend = await openBackend({ url, connections: 4, onError: () => {} });
  const mcp = await createMcpTools({ backend, version: '0', clock: Date.now, onError: () => {} });
  http = await startHttp(backend, { mcp, limits: { failuresPerMinute: 200 } });
  north = await fill(url, 'north');
  south = await fill(url, 'south');
});
afterAll(async () => {
  await http?.listening.close();
  await backend?.close();
  await database?.[Symbol.asyncDispose]();
});

async function fill(url: string, name: string): Promise<Side> {
  const secret = `${name}-only`;
  const project = await createProjects(url).create(name);
  const all = ['read', 'write', 'gates', 'admin'];
  const tokens = createTokens(url);
  const { token } = await tokens.create(project.id, { kind: 'agent', name: `${name}-agent`, scopes: all });
  const invited = { kind: 'person' as const, name: `${name}-person`, scopes: ['join'] };
  const invitation = await tokens.create(project.id, invited);
  const people = backend.people(project.id);
  await people.join(invitation.id, await hashPassphrase(secret), 3600);
  const scopes = ['read', 'write', 'gates', 'admin', 'decide'] as const;
  const credential = await people.makeCredential(invited.name, { scopes, seconds: 3600 });
  const person = credential?.token ?? '';
  const published = { ...definition, name: secret, description: secret } as Definition;
  const publication = { definition: published, hash: secret, digest: secret, by: invited.name };
  await backend.publications(project.id).publish(publication);
  const run = `${name}-20261115-${randomBytes(4).toString('hex')}`;
  const beginning = {
    definition: { ...definition, name: secret, description: secret },
    command: { type: 'start', summary: secret, session: secret },
    circumstances: { facts: { environment: { secret } } },
    once: { run, key: 'begin' },
  };
  const started = await http.call('POST', '/v1/runs', { token, body: beginning });
  const at = started.body.reply.at;
  const said = await http.call('POST', `/v1/runs/${run}/commands`, {
    token,
    body: { command: { type: 'advance', output: `${secret} `.repeat(300), at }, key: 'same' },
  });
  expect(said.status).toBe(200);
  const { body } = await http.call('GET', `/v1/runs/${run}`, { token });
  const { digest } = body.state.cursors.plan.checking.output;
  return { name, token, person, run, suffix: run.slice(-8), at, digest, secret, beginning };
}

const seqOf = async ({ run, token }: Side): Promise<number> =>
  (await http.call('GET', `/v1/runs/${run}`, { token })).body.version.seq;

/** What belongs to the side and must be in no answer to the other. */
const traces = ({ secret, run, suffix, digest, token }: Side): string[] => [
  secret,
  run,
  suffix,
  digest,
  token,
];

const nameOf = ({ method, path }: { method: string; path: string }): string => `${method} ${path}`;

test('every route of the table is tried', () => {
  expect(Object.keys(attempts).sort()).toEqual(routes.map(nameOf).sort());
});

describe.each(['token', 'person'] as const)('with the %s of one project', (kind) => {
  test.each(routes.map(nameOf))('%s tells and changes nothing of another', async (name) => {
    const [method = ''] = name.split(' ');
    const before = await seqOf(south);
    for (const { path, body } of attempts[name]?.(south, north) ?? []) {
      const answer = await http.call(method, path, {
        token: north[kind],
        ...(body === undefined ? {} : { body }),
      });
      expect(answer.status, path).toBeLessThan(500);
      for (const trace of traces(south)) {
        // What the caller itself sent may come back.
        if (!JSON.stringify([path, body]).includes(trace)) expect(told(answer), path).not.toContain(trace);
      }
      if (path.includes(south.run) && !path.includes('?after=9'))
        expect([200, 204, 403, 404], path).toContain(answer.status);
      // A run of that id is now the caller's own.
      if (name === 'POST /v1/runs')
        await http.call('DELETE', `/v1/runs/${south.run}`, { token: north.token });
      else if (answer.status === 200) expect(answer.text, path).not.toContain(south.secret);
    }
    expect(await seqOf(south)).toBe(before);
  });
});

/** They change something, never end, or tell what has no trace. */
const untold = [
  'DELETE /v1/runs/:run',
  'GET /v1/events',
  'GET /v1/rows/events',
  'GET /v1/runs/:run/log',
  'GET /v1/runs/:run/files',
];

const told = ({ text, headers }: Answered): string => text + JSON.stringify([...headers]);

test.each(routes.map(nameOf))(
  '%s does tell its owner, so the attempts above mean something',
  async (name) => {
    const [method = ''] = name.split(' ');
    const tried = (attempts[name]?.(south, north) ?? []).filter(({ own }) => own !== undefined);
    for (const { path, body, own } of tried) {
      const answer = await http.call(method, path, {
        token: south.token,
        ...(body === undefined ? {} : { body }),
      });
      expect(answer.status, path).toBe(own);
      if (own === 200)
        expect(
          traces(south).some((trace) => answer.text.includes(trace)) ||
            path.includes('watch') ||
            path.endsWith('whoami') ||
            // Nothing needs a person.
            path.endsWith('overview'),
          path,
        ).toBe(true);
    }
    expect(tried.length > 0 || untold.includes(name)).toBe(true);
  },
);

test('a run of the same id may live in both, and neither sees the other', async () => {
  const once = { run: 'same-20261115-samesame', key: 'same' };
  const start = (side: Side) =>
    http.call('POST', '/v1/runs', {
      token: side.token,
      body: {
        definition: { ...definition, name: side.secret },
        command: { type: 'start', summary: side.secret },
        once,
      },
    });
  expect((await start(north)).body).toMatchObject({ run: once.run, changed: true });
  expect((await start(south)).body).toMatchObject({ run: once.run, changed: true });
  for (const [side, other] of [[north, south] as const, [south, north] as const]) {
    const { text } = await http.call('GET', `/v1/runs/${once.run}`, { token: side.token });
    expect(text).toContain(side.secret);
    expect(text).not.toContain(other.secret);
  }
  await http.call('DELETE', `/v1/runs/${once.run}`, { token: north.token });
  expect((await http.call('GET', `/v1/runs/${once.run}`, { token: south.token })).status).toBe(200);
});

test('a stream tells only of its own project, from its beginning', async () => {
  const note = (side: Side) =>
    http.call('POST', `/v1/runs/${side.run}/commands`, {
      token: side.token,
      body: { command: { type: 'note', kind: 'reminder', key: 'k', text: `${side.secret} again` } },
    });
  for (const path of ['/v1/events?after=0', '/v1/events', `/v1/events?run=${north.run}&after=0`]) {
    const events = await readEvents(
      http.url,
      north.token,
      (seen) => seen.some(({ data }) => JSON.stringify(data ?? '').includes(`${north.secret} again`)),
      {
        path,
        onOpen: async () => {
          await note(south);
          await note(north);
        },
      },
    );
    const text = JSON.stringify(events);
    expect(text).toContain(north.run);
    for (const trace of traces(south)) expect(text, path).not.toContain(trace);
  }
});

test('a stream of rows tells only of its own project', async () => {
  const note = (side: Side) =>
    http.call('POST', `/v1/runs/${side.run}/commands`, {
      token: side.token,
      body: { command: { type: 'note', kind: 'reminder', key: 'r', text: side.secret } },
    });
  const rows = await readEvents(http.url, north.token, (seen) => seen.some(({ event }) => event === 'row'), {
    path: '/v1/rows/events',
    onOpen: async () => {
      await note(south);
      await note(north);
    },
  });
  const text = JSON.stringify(rows);
  expect(text).toContain(north.run);
  for (const trace of traces(south)) expect(text).not.toContain(trace);
});

test('hostile text is only text to the database, and tells of no other project', async () => {
  const { body } = await http.call('POST', '/v1/runs', {
    token: north.token,
    body: { definition, command: { type: 'start' } },
  });
  const before = await seqOf(south);
  const counts = () =>
    database.cluster.query<{ runs: string; tokens: string }>(
      database.name,
      'select (select count(*) from stepfast.runs) as runs, (select count(*) from stepfast.tokens) as tokens',
    );
  const [rows] = await counts();
  for (const { method, path, body: sent } of hostileCalls(body.run)) {
    const answer = await http.call(method, path, { token: north.token, ...(sent ? { body: sent } : {}) });
    expect(answer.status, `${method} ${path} ${JSON.stringify(sent)}: ${answer.text}`).toBeLessThan(500);
    for (const trace of traces(south)) expect(answer.text, path).not.toContain(trace);
  }
  expect(await counts()).toEqual([rows]);
  expect(await seqOf(south)).toBe(before);
});

test('without a token no route and no tool answers', async () => {
  for (const { method, path } of [...routes, { method: 'POST', path: '/mcp' }]) {
    const plain = path.replace(':run', south.run).replace(':digest', south.digest);
    const body = method === 'POST' ? { body: {} } : {};
    for (const token of [undefined, 'sf_x', `sf_0_${'x'.repeat(43)}`]) {
      const answer = await http.call(method, plain, { ...body, ...(token === undefined ? {} : { token }) });
      expect(answer, `${method} ${path}`).toMatchObject({ status: 401 });
      expect(answer.headers.get('www-authenticate')).toContain('resource_metadata=');
      expect(answer.text).not.toContain(south.secret);
    }
  }
});

test('a token that was revoked in the database is refused soon', async () => {
  const { url } = database;
  const project = await createProjects(url).named('north');
  const tokens = createTokens(url);
  const { id, token } = await tokens.create(project?.id ?? 0, {
    kind: 'agent',
    name: 'short',
    scopes: ['read'],
  });
  expect((await http.call('GET', '/v1/whoami', { token })).status).toBe(200);
  // A project revokes its own tokens alone.
  const other = await createProjects(url).named('south');
  expect(await tokens.revoke(other?.id ?? 0, id)).toBe(false);
  expect(await tokens.revoke(project?.id ?? 0, id)).toBe(true);
  await expect.poll(async () => (await http.call('GET', '/v1/whoami', { token })).status).toBe(401);
});
