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
