import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase, type OwnedDatabase } from '../../kit/database.ts';
import { begin, call } from '../../kit/server/http.ts';
import { type Cli, createCli } from '../../kit/server/serve.ts';

let database: OwnedDatabase;
let cli: Cli;
const stepfast: Cli['run'] = (...args) => cli.run(...args);
const serve: Cli['serve'] = (...args) => cli.serve(...args);

beforeAll(async () => {
  database = await createDatabase('template0');
  cli = createCli({ STEPFAST_DATABASE_URL: database.url });
});
afterAll(async () => {
  await cli?.dispose();
  await database?.[Symbol.asyncDispose]();
});

test('a database that was never migrated is refused with what to do', async () => {
  const refused = await stepfast(['serve', '--port', '0']);
  expect(refused).toMatchObject({ code: 1, stdout: '' });
  expect(refused.stderr).toContain('stepfast migrate');
  const gone = await stepfast(['project', 'list'], {
    STEPFAST_DATABASE_URL: 'postgres://me:secret@127.0.0.1:9/x',
  });
  expect(gone).toMatchObject({ code: 1 });
  expect(gone.stderr).toContain('STEPFAST_DATABASE_URL');
  expect(gone.stderr).not.toContain('secret');
});

test('a command line that makes no sense is refused before anything is asked', async () => {
  for (const [args, words] of [
    [['serve', '--host', '0.0.0.0'], '--public-url'],
    [['serve', '--public-url', 'https://x.example/path'], 'without a path'],
    [['serve', '--port', '99999'], '--port'],
    [['serve', '--issuer', 'https://x.example'], '--jwks'],
    [['serve', '--issuer', 'https://x.example', '--jwks', 'http://x.example/keys'], 'https'],
    [['serve', '--log-level', 'loud'], 'silent'],
    [['token', 'create', 'x', '--project', 'p', '--scope', 'decide'], 'person'],
    [['token', 'create', 'x', '--project', 'p', '--scope', 'everything'], 'Unknown scope'],
    [['token', 'create', 'x'], '--project'],
    [['token', 'create', ' ', '--project', 'p'], 'name'],
    [['token', 'create', 'a\u001bb', '--project', 'p'], '64'],
    [['token', 'create', 'x'.repeat(65), '--project', 'p'], '64'],
    [['token', 'create', 'x', '--project', 'p', '--expires', 'soon'], '30d'],
    [['project', 'drop', 'x'], 'create, list, rename, publish-only, export or remove'],
    [['project', 'rename', 'x'], 'new name'],
    [['token', 'rotate', 'x', '--project', 'p', '--grace', 'soon'], '24h'],
    [['audit', '--limit', '0'], '--limit'],
  ] as const) {
    const { code, stderr } = await stepfast(args);
    expect({ args, code }).toEqual({ args, code: 2 });
    expect(stderr).toContain(words);
  }
  expect(await stepfast(['migrate'], { STEPFAST_DATABASE_URL: '' })).toMatchObject({ code: 2 });
});

test('a team is set up, works, and its server stops in good order', async () => {
  const migrated = await stepfast(['migrate']);
  expect(migrated).toMatchObject({ code: 0 });
  expect((await stepfast(['migrate'])).stdout).toContain('up to date');
  expect(await stepfast(['project', 'create', 'shop'])).toMatchObject({ code: 0 });
  expect(await stepfast(['project', 'create', 'shop'])).toMatchObject({ code: 1 });
  expect(await stepfast(['project', 'create', 'No Name'])).toMatchObject({ code: 1 });
  expect((await stepfast(['project', 'list'])).stdout).toBe('shop\n');

  const agent = await stepfast(['token', 'create', 'ci', '--project', 'shop']);
  expect(agent.stdout).toMatch(/^sf_[0-9a-f]+_[\w-]{49}\n$/);
  expect(agent.stderr).toContain('not shown again');
  expect(agent.stderr).toContain('gates');
  expect(agent.stderr).not.toContain('decide');
  const token = agent.stdout.trim();
  const person = JSON.parse(
    (await stepfast(['token', 'create', 'Ada', '--project', 'shop', '--kind', 'person', '--json'])).stdout,
  );
  expect(person).toMatchObject({ kind: 'person', scopes: ['join'] });
  expect(await stepfast(['token', 'create', 'x', '--project', 'nowhere'])).toMatchObject({ code: 3 });

  const server = await serve();
  const ask = (method: string, path: string, by = token) => call(server.url, method, path, { token: by });
  expect((await call(server.url, 'GET', '/readyz')).status).toBe(200);
  expect((await ask('GET', '/v1/whoami')).body).toMatchObject({ project: 'shop', name: 'ci', kind: 'agent' });
  expect((await ask('GET', '/v1/whoami', person.token)).body).toMatchObject({ name: 'Ada', kind: 'person' });
  const run = await begin({ call: (...args) => call(server.url, ...args) }, token);
  expect((await ask('GET', `/v1/runs/${run}`)).status).toBe(200);

  const listed = await stepfast(['token', 'list', '--project', 'shop', '--json']);
  const tokens: { id: string; name: string }[] = JSON.parse(listed.stdout).tokens;
  expect(tokens.map(({ name }) => name)).toEqual(['ci', 'Ada']);
  expect(listed.stdout).not.toContain(token.slice(-49));
  expect((await stepfast(['token', 'list', '--project', 'shop'])).stdout).toContain('person');
  expect(await stepfast(['token', 'revoke', tokens[1]?.id ?? '', '--project', 'shop'])).toMatchObject({
    code: 0,
  });
  expect(await stepfast(['token', 'revoke', tokens[1]?.id ?? '', '--project', 'shop'])).toMatchObject({
    code: 3,
  });
  await expect.poll(async () => (await ask('GET', '/v1/whoami', person.token)).status).toBe(401);

  const watch = ask('GET', `/v1/runs/${run}/watch?after=1&ms=25000`).catch(() => ({
    status: 200,
    body: { seq: 1 },
  }));
  // It waits on the server, which answers it now, or comes too late.
  expect(await server.stop()).toBe(0);
  expect(await watch).toMatchObject({ status: 200, body: { seq: 1 } });
  const lines = server
    .log()
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
  expect(lines[0]).toMatchObject({ level: 30, msg: 'listening' });
  expect(lines.at(-1)).toMatchObject({ msg: 'stopped' });
  expect(lines.some(({ route, project }) => route === '/v1/runs' && project === 'shop')).toBe(true);
  expect(server.log()).not.toContain(token.slice(-49));
});

test('two servers work on one database, and a listener of one hears the other', async () => {
  await stepfast(['migrate']);
  await stepfast(['project', 'create', 'pair']);
  const token = (await stepfast(['token', 'create', 'ci', '--project', 'pair'])).stdout.trim();
  const [one, two] = [await serve('--migrate'), await serve()];
  const run = await begin({ call: (...args) => call(one.url, ...args) }, token);
  const watch = call(two.url, 'GET', `/v1/runs/${run}/watch?after=1&ms=25000`, { token });
  const noted = await call(one.url, 'POST', `/v1/runs/${run}/commands`, {
    token,
    body: { command: { type: 'note', kind: 'reminder', text: 'x' } },
  });
  expect(noted.status).toBe(200);
  expect((await watch).body).toEqual({ seq: 2 });
  expect(await one.stop('SIGINT')).toBe(0);
  expect((await call(two.url, 'GET', `/v1/runs/${run}`, { token })).body.version.seq).toBe(2);
  expect(await two.stop()).toBe(0);
});
