/** The dashboard of a real team server over a real PostgreSQL. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { hashDefinition } from '../../../src/definition/index.ts';
import { createEngine, type Engine, newRun } from '../../../src/engine/index.ts';
import { createProjects, createTokens } from '../../../src/store/postgres/index.ts';
import { browserProgram, openBrowser } from '../../kit/browser.ts';
import { signInTo } from '../../kit/dashboard/sign-in.ts';
import { startDatabase, type TestDatabase } from '../../kit/database.ts';
import { action, workflow } from '../../kit/run.ts';
import { startIssuer } from '../server/issuer-kit.ts';
import { becomePerson, passphrase } from '../server/person-kit.ts';
import { type Cli, createCli, type Served } from '../server/serve-kit.ts';

const it = test.skipIf(browserProgram === undefined);
const definition = workflow([action('plan', { title: 'Plan', review: { by: 'human' } }), action('build')]);

let database: TestDatabase;
let cli: Cli;
let served: Served;
let browser: Browser;
let engine: Engine;
let project: number;
let credential: string;

beforeAll(async () => {
  if (browserProgram === undefined) return;
  database = await startDatabase({ fsync: false });
  const { url, postgres } = database;
  project = (await createProjects(url).create('shop')).id;
  const invitation = { kind: 'person' as const, name: 'Ada', scopes: ['join'] };
  const { token } = await createTokens(url).create(project, invitation);
  engine = createEngine({ store: postgres.store(project), newRun, hashOf: hashDefinition });
  cli = createCli({ STEPFAST_DATABASE_URL: url });
  served = await cli.serve('--no-jobs');
  credential = (await becomePerson(served.url, token)).credential;
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

const ada = { project: 'shop', name: 'Ada' };

const claude = { kind: 'agent', principal: { kind: 'agent', subject: 'claude' } } as const;

const waitingRun = async (summary: string): Promise<string> => {
  const { run } = await engine.begin(definition, { type: 'start', now: Date.now(), summary });
  await engine.execute(run, { type: 'advance', now: Date.now(), output: 'Three colors', actor: claude });
  return run;
};

/** Whatever is asked then. */
async function approve(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'Review' }).first().click();
  await page.getByRole('heading', { name: 'What claude says' }).waitFor();
  await page.locator('form [type=submit]').click();
}

it('a person signs in with a passphrase and decides', async () => {
  const run = await waitingRun('Dark mode');
  const page = await openPage();
  await page.goto(served.url);
  await signInTo(page, ada, 'not this one');
  await page.getByRole('alert').waitFor();
  await signInTo(page, { project: 'shop', name: 'nobody' });
  await page.getByRole('alert').waitFor();
  expect(await page.context().cookies()).toEqual([]);
  await signInTo(page, ada);
  await page.getByText('Plan waits for your review').first().waitFor();
  const cookies = await page.context().cookies();
  expect(cookies).toMatchObject([{ httpOnly: true, sameSite: 'Strict' }]);
  await approve(page);
  await expect.poll(async () => (await engine.view(run))?.state.step).toBe('build');
  expect((await engine.view(run))?.state.outputs.plan?.reviewed).toBe('Ada');
});

it('S5: what a page decides with is only in its memory, so another page asks for the passphrase', async () => {
  const run = await waitingRun('Sepia');
  const page = await openPage();
  await page.goto(served.url);
  await signInTo(page, ada);
  await page.getByText('Live').waitFor();
  // A page that is loaded again has forgotten it.
  await page.goto(`${served.url}/runs/${run}`);
  await approve(page);
  const dialog = page.getByRole('dialog', { name: 'Passphrase' });
  await dialog.getByLabel('Passphrase').fill('not this one');
  await page.keyboard.press('Enter');
  await dialog.getByRole('alert').waitFor();
  expect((await engine.view(run))?.state.status).toBe('waiting');
  await dialog.getByLabel('Passphrase').fill(passphrase);
  await page.keyboard.press('Enter');
  await expect.poll(async () => (await engine.view(run))?.state.step).toBe('build');
});

it('S5: with an issuer, the page waits until the person has agreed there', async () => {
  const issuer = await startIssuer('the team');
  const own = await cli.serve(
    '--no-jobs',
    ...['--issuer', issuer.url, '--jwks', `${issuer.url}/keys`, '--client-id', issuer.client],
    ...['--audience', 'the team'],
  );
  try {
    const run = await waitingRun('Solarized');
    const page = await openPage();
    await page.goto(own.url);
    await page.getByRole('button', { name: 'Sign in with' }).click();
    await page.getByText('CODE-1').waitFor();
    const claims = { sub: 'ida-7', name: 'Ida', stepfast_project: 'shop', stepfast_kind: 'person' };
    issuer.decide('CODE-1', { ...claims, scope: 'read write decide' });
    await page.getByText('Live').waitFor();
    await page.goto(`${own.url}/runs/${run}`);
    await approve(page);
    const dialog = page.getByRole('dialog', { name: 'Passphrase' });
    await dialog.getByRole('button', { name: 'Sign in with' }).click();
    await dialog.getByText('CODE-2').waitFor();
    issuer.decide('CODE-2', { ...claims, scope: 'read write decide' });
    await expect.poll(async () => (await engine.view(run))?.state.step).toBe('build');
    expect((await engine.view(run))?.state.outputs.plan?.reviewed).toBe('Ida (ida-7)');
  } finally {
    await own.stop();
    issuer.close();
  }
});

it("S4: a review says which checks an agent's token reported, and not of those that a runner reported", async () => {
  const gate = [{ run: 'npm test' }, { run: 'npm run lint' }];
  const gated = workflow([action('plan', { gate, review: { by: 'human' } })]);
  const page = await openPage();
  await page.goto(served.url);
  await signInTo(page, ada);
  await page.getByText('Live').waitFor();
  const reviewOf = async (kind: 'agent' | 'runner') => {
    const { run } = await engine.begin(gated, { type: 'start', now: Date.now() });
    const advance = { type: 'advance', output: 'Done', actor: claude } as const;
    const { view } = await engine.execute(run, { ...advance, now: Date.now() });
    const id = Object.values(view?.state.cursors ?? {})[0]?.checking?.id ?? '';
    const receipts = gate.map((_, index) => ({ gate: index, pass: true, exit: 0 }));
    const actor = { kind: 'engine', principal: { kind, subject: 'x' } } as const;
    await engine.execute(run, { type: 'gatesFinished', now: Date.now(), id, receipts, actor });
    await page.goto(`${served.url}/runs/${run}`);
    await page.getByRole('link', { name: 'Review' }).first().waitFor();
    // Of the step, and of each row of its evidence.
    const labels = await page.getByText(/reported by the agent/i).all();
    expect(labels).toHaveLength(kind === 'agent' ? 3 : 0);
    for (const label of labels)
      expect(await label.evaluate((shown) => shown.scrollWidth <= shown.clientWidth)).toBe(true);
    await page.getByRole('link', { name: 'Review' }).first().click();
    return await page.getByRole('region', { name: 'Evidence' }).textContent();
  };
  expect((await reviewOf('agent'))?.match(/reported by the agent/gi)).toHaveLength(2);
  expect(await reviewOf('runner')).not.toMatch(/reported/i);
});

it('a refused sign-in puts the focus on the passphrase, and not where another field is being corrected', async () => {
  const page = await openPage();
  await page.goto(served.url);
  const focused = () => page.evaluate('document.activeElement?.id');
  await signInTo(page, ada, 'not this one');
  await page.getByRole('alert').waitFor();
  await expect.poll(focused).toBe('passphrase');
  const { promise: corrected, resolve } = Promise.withResolvers<void>();
  await page.route('**/sign-in', async (route) => {
    await corrected;
    await route.continue();
  });
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByLabel('Name').focus();
  resolve();
  await page.getByRole('alert').waitFor();
  expect(await focused()).toBe('name');
});

it('a person signs out, and the browser has nothing left to read with', async () => {
  const page = await openPage();
  await page.goto(served.url);
  await signInTo(page, ada);
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  expect(await page.context().cookies()).toEqual([]);
  await page.reload();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
});

it('a browser sees what others change, and comes back after the server was away', async () => {
  const page = await openPage();
  await page.goto(served.url);
  await signInTo(page, ada);
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
      headers: {
        'content-type': 'application/json',
        cookie: `stepfast_token=${credential}`,
        ...headers,
      },
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
