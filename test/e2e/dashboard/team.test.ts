/** The dashboard of a real team server over a real PostgreSQL. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { hashDefinition } from '../../../src/definition/index.ts';
import { createEngine, type Engine, newRun } from '../../../src/engine/index.ts';
import { createProjects, createTokens } from '../../../src/store/postgres/index.ts';
import { browserProgram, openBrowser } from '../../kit/browser.ts';
import { startDatabase, type TestDatabase } from '../../kit/database.ts';
import { action, workflow } from '../../kit/run.ts';
import { type Cli, createCli, type Served } from '../server/serve-kit.ts';

const it = test.skipIf(browserProgram === undefined);
const definition = workflow([action('plan', { title: 'Plan', review: { by: 'human' } }), action('build')]);

let database: TestDatabase;
let cli: Cli;
let served: Served;
let browser: Browser;
let engine: Engine;
let tokens: Record<'person' | 'agent', string>;

beforeAll(async () => {
  if (browserProgram === undefined) return;
  database = await startDatabase({ fsync: false });
  const { url, postgres } = database;
  const project = await createProjects(url).create('shop');
  const create = async (kind: 'person' | 'agent') => {
    const scopes = ['read', 'write', 'gates', ...(kind === 'person' ? ['decide'] : [])];
    return (
      await createTokens(url).create(project.id, { kind, name: kind === 'person' ? 'Ada' : 'robot', scopes })
    ).token;
  };
  tokens = { person: await create('person'), agent: await create('agent') };
  engine = createEngine({ store: postgres.store(project.id), newRun, hashOf: hashDefinition });
  cli = createCli({ STEPFAST_DATABASE_URL: url });
  served = await cli.serve('--no-jobs');
  browser = await openBrowser();
});
afterAll(async () => {
  await browser?.close();
  await served?.stop();
  cli?.dispose();
  await database?.[Symbol.asyncDispose]();
});

async function openPage(): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  context.setDefaultTimeout(120_000);
  return await context.newPage();
}

async function signIn(page: Page, token: string): Promise<void> {
  await page.getByLabel('Token').fill(token);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

const waitingRun = async (summary: string): Promise<string> => {
  const { run } = await engine.begin(definition, { type: 'start', now: Date.now(), summary });
  await engine.execute(run, { type: 'advance', now: Date.now(), output: 'Three colors' });
  return run;
};

it('a person signs in with their own token and decides; an agent does not', async () => {
  const run = await waitingRun('Dark mode');
  const page = await openPage();
  await page.goto(served.url);
  await signIn(page, `${tokens.person}x`);
  await page.getByRole('alert').waitFor();
  await signIn(page, tokens.agent);
  await page.getByRole('alert').getByText('robot').waitFor();
  expect(await page.context().cookies()).toEqual([]);
  await signIn(page, tokens.person);
  await page.getByText('Plan waits for your review').first().waitFor();
  const [cookie] = await page.context().cookies();
  expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict', expires: -1 });
  await page.keyboard.press('1');
  await page.getByText('Three colors').first().waitFor();
  await page.keyboard.press('Control+Enter');
  await expect.poll(async () => (await engine.view(run))?.state.step).toBe('build');
  expect((await engine.view(run))?.state.outputs.plan?.reviewed).toBe('Ada');
});

it('a browser sees what others change, and comes back after the server was away', async () => {
  const page = await openPage();
  await page.goto(served.url);
  await signIn(page, tokens.person);
  await page.getByText('Live').waitFor();
  await waitingRun('Light mode');
  await page.getByText('Light mode').first().waitFor();
  const { port } = new URL(served.url);
  await served.stop();
  await page.getByText('Connection lost').waitFor();
  await waitingRun('High contrast');
  served = await cli.serve('--no-jobs', '--port', port);
  await page.getByText('High contrast').first().waitFor();
  expect(await page.getByText('Sign in').count()).toBe(0);
});

it('a request with the cookie must come from a page of this server', async () => {
  const run = await waitingRun('Guarded');
  const { at } = (await engine.execute(run, { type: 'status', now: Date.now() })).reply as { at?: string };
  const command = { type: 'review', verdict: 'approve', at, actor: { kind: 'person' } };
  const send = (headers: Record<string, string>) =>
    fetch(`${served.url}/v1/runs/${run}/commands`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', cookie: `stepfast_token=${tokens.person}`, ...headers },
      body: JSON.stringify({ command }),
    });
  expect((await send({})).status).toBe(403);
  expect((await send({ origin: 'https://evil.example' })).status).toBe(403);
  expect((await send({ origin: 'null' })).status).toBe(403);
  expect((await send({ origin: served.url, cookie: 'stepfast_token=x' })).status).toBe(401);
  expect((await engine.view(run))?.state.status).toBe('waiting');
  expect((await send({ origin: served.url })).status).toBe(200);
  expect((await engine.view(run))?.state.step).toBe('build');
  const page = await fetch(`${served.url}/runs/x`);
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
  expect((await fetch(`${served.url}/v1/nothing`)).status).toBe(404);
});
