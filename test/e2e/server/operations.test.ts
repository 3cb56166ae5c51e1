import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { tokenId } from '../../../src/token-format.ts';
import { begin, call, definition } from '../../kit/server/http.ts';
import { becomePerson } from '../../kit/server/person.ts';
import type { Cli, Served } from '../../kit/server/serve.ts';
import { openShop, type Shop } from '../../kit/server/shop.ts';

let shop: Shop;
let cli: Cli;
let server: Served;

beforeAll(async () => {
  shop = await openShop({ env: { STEPFAST_PROXIES: '1' } });
  cli = shop.cli;
  server = await cli.serve();
});
afterAll(() => shop?.[Symbol.asyncDispose]());

const json = async (...args: string[]) => JSON.parse(await cli.output(...args, '--json'));
const newTokenOf = (project: string, ...args: string[]): Promise<{ id: string; token: string }> =>
  json('token', 'create', 'ci', '--project', project, ...args);
const status = async (token: string, url = server.url): Promise<number> =>
  (await call(url, 'GET', '/v1/whoami', { token })).status;
const start = (token: string, own = {}): Promise<string> =>
  begin({ call: (...args) => call(server.url, ...args) }, token, own);
const metrics = async (): Promise<string> => (await call(server.metricsUrl, 'GET', '')).text;
const _lines = (): Record<string, unknown>[] =>
  server
    .log()
    .split('\n')
    .filter((line) => line.startsWith('{') && line.endsWith('}'))
    .map((line) => JSON.parse(line));

test('S11: metrics have a port of their own, with jobs, webhooks, queues and refusals by code', async () => {
  for (const path of ['/metrics', '/metrics/'])
    expect(await call(server.url, 'GET', path)).toMatchObject({ status: 404 });
  expect(await call(new URL(server.metricsUrl).origin, 'GET', '/v1/whoami')).toMatchObject({ status: 404 });
  const { token } = await newTokenOf('shop');
  const hook = ['http://127.0.0.1:9/', '--allow-http', '--allow-private'];
  const { id } = await json('webhook', 'add', ...hook, '--project', 'shop');
  await start(token);
  await call(server.url, 'GET', '/v1/runs/none', { token });
  expect(await status('bad')).toBe(401);
  await expect.poll(metrics, { interval: 500 }).toMatch(/^stepfast_webhooks\{state="ok"} 1$/m);
  // This server refuses such a target, so that the delivery waits for its next attempt or is dead.
  await expect.poll(metrics, { interval: 500 }).toMatch(/^stepfast_webhook_failed_total [1-9]/m);
  const text = await metrics();
  for (const line of [
    'stepfast_jobs_running 1',
    'stepfast_backlog_up 1',
    'stepfast_work_waiting 0',
    'stepfast_refused_total{code="no_run"} 1',
  ])
    expect(text.split('\n')).toContain(line);
  expect(text).toMatch(/^stepfast_jobs_looked_timestamp_seconds \d{10}/m);
  expect(text).toMatch(/^stepfast_jobs_dispatched_total [1-9]/m);
  expect(text).toMatch(/^stepfast_queue_jobs\{queue="webhook-dead",state="due"} \d+$/m);
  expect(text).toMatch(/^stepfast_queue_oldest_seconds\{queue="reminder"} \d/m);
  expect(text).toMatch(/^stepfast_refused_total\{code="unauthorized"} [1-9]/m);
  expect(text).not.toContain('shop');
  await cli.output('webhook', 'remove', id, '--project', 'shop');
});

test('S11: a token is rotated, and a list says when it was last used', async () => {
  const old = await newTokenOf('shop', '--scope', 'read', '--expires', '30d');
  const listed = async (id: string) =>
    (await json('token', 'list', '--project', 'shop')).tokens.find((each: { id: string }) => each.id === id);
  expect(await listed(old.id)).not.toHaveProperty('used');
  expect(await status(old.token)).toBe(200);
  await expect.poll(() => listed(old.id)).toHaveProperty('used');
  const { used } = await listed(old.id);
  // Not written again within the minute, by this server or another one.
  const other = await cli.serve('--no-jobs');
  for (const url of [server.url, other.url]) expect(await status(old.token, url)).toBe(200);
  await other.stop();
  expect(await listed(old.id)).toMatchObject({ used });

  const renewed = await json('token', 'rotate', old.id, '--project', 'shop', '--grace', '1h');
  expect(renewed).toMatchObject({ name: 'ci', kind: 'agent', scopes: ['read'], replaces: { id: old.id } });
  const lifetime = Date.parse(renewed.expires) - Date.now();
  expect(Math.round(lifetime / 86_400_000)).toBe(30);
  expect([await status(old.token), await status(renewed.token)]).toEqual([200, 200]);
  const ends = Date.parse((await listed(old.id)).expires) - Date.now();
  expect(ends).toBeGreaterThan(0);
  expect(ends).toBeLessThanOrEqual(3_600_000);

  const last = await json('token', 'rotate', renewed.id, '--project', 'shop', '--grace', '0');
  expect(await status(last.token)).toBe(200);
  await expect.poll(() => status(renewed.token)).toBe(401);
  const again = await cli.run(['token', 'rotate', renewed.id, '--project', 'shop']);
  expect(again.code).toBe(3);
  const person = await cli.run(['token', 'rotate', last.id, '--project', 'shop', '--kind', 'person']);
  expect(person.code).toBe(2);
});

test('S11: the audit has tokens, workflows and decisions, with who, from where and in which request', async () => {
  await cli.output('project', 'create', 'audited');
  const [agent, invitation] = [
    await newTokenOf('audited'),
    await json('token', 'create', 'Ada', '--project', 'audited', '--kind', 'person'),
  ];
  const { credential } = await becomePerson(server.url, invitation.token);
  const ada = { token: credential, id: tokenId(credential) };
  const run = await start(agent.token);
  const published = await call(server.url, 'POST', '/v1/workflows', {
    token: ada.token,
    body: { definition },
  });
  expect(published).toMatchObject({ status: 200, body: { name: 'plain' } });
  const headers = { 'X-Forwarded-For': '192.0.2.9', 'X-Request-Id': 'the-decision-of-ada' };
  const cancel = { command: { type: 'cancel', reason: 'a secret reason', actor: { kind: 'person' } } };
  const path = `/v1/runs/${run}/commands`;
  const denied = await call(server.url, 'POST', path, { token: agent.token, body: cancel });
  expect(denied.status).toBe(403);
  const decided = await call(server.url, 'POST', path, { token: ada.token, body: cancel, headers });
  expect(decided).toMatchObject({ status: 200 });
  await cli.output('token', 'revoke', agent.id, '--project', 'audited');

  const { entries } = await json('audit', '--project', 'audited');
  expect(entries.map(({ action }: { action: string }) => action)).toEqual([
    'token.created',
    'token.created',
    'person.joined',
    'credential.made',
    'workflow.published',
    'decision.cancel',
    'token.revoked',
  ]);
  expect(entries[1]).toEqual({
    at: expect.any(String),
    project: 'audited',
    action: 'token.created',
    subject: invitation.id,
    by: { kind: 'operator', name: 'team_owner' },
    details: { kind: 'person', name: 'Ada', scopes: 'join' },
  });
  expect(entries[2]).toMatchObject({ subject: 'Ada', by: { kind: 'person', token: invitation.id } });
  expect(entries[3]).toMatchObject({ subject: ada.id, by: { kind: 'agent', name: 'Ada' } });
  expect(entries[4]).toMatchObject({ by: { kind: 'person', token: ada.id }, details: { name: 'plain' } });
  expect(entries[5]).toEqual({
    at: expect.any(String),
    project: 'audited',
    action: 'decision.cancel',
    subject: run,
    by: {
      kind: 'person',
      name: 'Ada',
      token: ada.id,
      address: '192.0.2.9',
      request: 'the-decision-of-ada',
    },
    details: { as: 'person' },
  });
  expect(JSON.stringify(entries)).not.toContain('a secret reason');
  // Together with those of other projects, and readable by people.
  const { entries: all } = await json('audit');
  expect(all).toContainEqual(expect.objectContaining({ action: 'project.created', subject: 'audited' }));
  const shown = await cli.output('audit', '--limit', '3');
  expect(shown).toContain('token.revoked');
  // The token with which it was decided.
  expect(shown).toContain(ada.id);
});

test('S11: a project is renamed, exported and removed', async () => {
  await cli.output('project', 'create', 'old');
  const { token } = await newTokenOf('old');
  const run = await start(token);
  await start(token);
  const hook = ['http://127.0.0.1:9/', '--allow-http', '--allow-private', '--project', 'old'];
  await cli.output('webhook', 'add', ...hook);
  expect((await cli.run(['project', 'rename', 'old', 'shop'])).code).toBe(1);
  await cli.output('project', 'rename', 'old', 'new');
  await expect
    .poll(async () => (await call(server.url, 'GET', '/v1/whoami', { token })).body)
    .toMatchObject({ project: 'new' });

  const directory = join(shop.directory, 'export');
  expect(await json('project', 'export', 'new', '--output', directory)).toMatchObject({ runs: 2 });
  expect(readdirSync(join(directory, 'runs'))).toContain(`${run}.json`);
  const archive = readFileSync(join(directory, 'runs', `${run}.json`), 'utf8');
  expect(JSON.parse(archive)).toMatchObject({ stepfast: 'run', run, definition: { name: 'plain' } });
  const about = JSON.parse(readFileSync(join(directory, 'project.json'), 'utf8'));
  expect(about).toMatchObject({ stepfast: 'project', project: 'new', tokens: [{ name: 'ci' }] });
  expect(JSON.stringify(about)).not.toContain(token);
  expect((await cli.run(['project', 'export', 'new', '--output', directory])).code).toBe(2);

  const other = await newTokenOf('shop');
  const theirs = await start(other.token);
  expect(await cli.run(['project', 'remove', 'new'])).toMatchObject({ code: 1 });
  expect(await status(token)).toBe(200);
  expect(await json('project', 'remove', 'new', '--yes')).toEqual({ removed: 'new', runs: 2 });
  expect(await status(token)).toBe(401);
  expect(await json('project', 'list')).toEqual({ projects: ['audited', 'shop'] });
  expect(await call(server.url, 'GET', `/v1/runs/${theirs}`, { token: other.token })).toMatchObject({
    status: 200,
  });
  const { entries } = await json('audit');
  expect(entries.at(-1)).toMatchObject({ action: 'project.removed', subject: 'new', details: { runs: 2 } });
  expect(await leftovers()).toEqual([]);
});

/** Tables with rows of a project that is not there. */
async function leftovers(): Promise<string[]> {
  const tables = await shop.sql<{ name: string }>(
    `select table_name as name from information_schema.columns
      where table_schema = 'stepfast' and column_name = 'project'`,
  );
  const found: string[] = [];
  for (const { name } of tables) {
    const rows = await shop.sql(
      `select from stepfast.${name} where project <> 0 and project not in (select id from stepfast.projects)`,
    );
    if (rows.length > 0) found.push(name);
  }
  const jobs = await shop.sql(
    `select from stepfast_jobs.job where (data ->> 'project')::int not in (select id from stepfast.projects)`,
  );
  return jobs.length > 0 ? [...found, 'job'] : found;
}
