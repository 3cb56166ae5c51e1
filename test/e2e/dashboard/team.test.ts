/** The dashboard of a real team server over a real PostgreSQL: what differs from the one over files. */
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { Engine } from '../../../src/engine/index.ts';
import { browserProgram, sharedBrowser } from '../../kit/browser.ts';
import { axe, expectAccessible } from '../../kit/dashboard/axe.ts';
import { signInTo } from '../../kit/dashboard/sign-in.ts';
import { openTeamSite, type TeamSite } from '../../kit/dashboard/site.ts';
import { situations } from '../../kit/dashboard/situations.ts';
import { action, workflow } from '../../kit/run.ts';
import { startIssuer } from '../../kit/server/issuer.ts';
import { passphrase } from '../../kit/server/person.ts';

const it = test.skipIf(browserProgram === undefined);
const definition = workflow([action('plan', { title: 'Plan', review: { by: 'human' } }), action('build')]);

let site: TeamSite;
let engine: Engine;

beforeAll(async () => {
  if (browserProgram === undefined) return;
  site = await openTeamSite();
  engine = site.engine;
});
afterAll(async () => await site?.[Symbol.asyncDispose]());

const pages: Page[] = [];
afterEach(async () => {
  for (const page of pages.splice(0)) await page.context().close();
});

async function openPage(): Promise<Page> {
  const browser = await sharedBrowser();
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  page.setDefaultTimeout(120_000);
  pages.push(page);
  return page;
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

it('the page to sign in is accessible', async () => {
  const page = await openPage();
  await page.addInitScript(axe);
  await page.goto(site.url);
  await page.getByLabel('Passphrase').waitFor();
  await expectAccessible(page, 'sign in');
});

it('a person signs in with a passphrase and decides', async () => {
  const run = await waitingRun('Dark mode');
  const page = await openPage();
  await page.goto(site.url);
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
  await page.goto(site.url);
  await signInTo(page, ada);
  await page.getByText('Live').waitFor();
  // A page that is loaded again has forgotten it.
  await page.goto(`${site.url}/runs/${run}`);
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
  const own = await site.program.serve(
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
  await page.goto(site.url);
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
    await page.goto(`${site.url}/runs/${run}`);
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
  await page.goto(site.url);
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
  await page.goto(site.url);
  await signInTo(page, ada);
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  expect(await page.context().cookies()).toEqual([]);
  await page.reload();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
});

it('a browser sees what others change, and comes back after the server was away', async () => {
  const page = await openPage();
  await page.goto(site.url);
  await signInTo(page, ada);
  await page.getByText('Live').waitFor();
  await waitingRun('Light mode');
  await page.getByText('Light mode').first().waitFor();
  const { port } = new URL(site.url);
  await site.served.stop();
  await page.getByText('Connection lost').waitFor();
  await waitingRun('High contrast');
  site.served = await site.program.serve('--no-jobs', '--port', port);
  await page.getByText('High contrast').first().waitFor();
  expect(await page.getByText('Sign in').count()).toBe(0);
});

it('a request with the cookie must come from a page of this server', async () => {
  const run = await waitingRun('Guarded');
  const { at } = (await engine.execute(run, { type: 'status', now: Date.now() })).reply as { at?: string };
  const command = { type: 'review', verdict: 'approve', at, actor: { kind: 'person' } };
  const send = (headers: Record<string, string>) =>
    fetch(`${site.url}/v1/runs/${run}/commands`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        cookie: `stepfast_token=${site.credential}`,
        ...headers,
      },
      body: JSON.stringify({ command }),
    });
  expect((await send({})).status).toBe(403);
  expect((await send({ origin: 'https://evil.example' })).status).toBe(403);
  expect((await send({ origin: 'null' })).status).toBe(403);
  expect((await send({ origin: site.url, cookie: 'stepfast_token=x' })).status).toBe(401);
  expect((await engine.view(run))?.state.status).toBe('waiting');
  expect((await send({ origin: site.url })).status).toBe(200);
  expect((await engine.view(run))?.state.step).toBe('build');
  const page = await fetch(`${site.url}/runs/x`);
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
  expect((await fetch(`${site.url}/v1/nothing`)).status).toBe(404);
});

async function enter(): Promise<Page> {
  const page = await site.enter(await sharedBrowser());
  pages.push(page);
  return page;
}

it('a workflow is drawn and played, and what needs files is not shown', async () => {
  const { run, at } = await situations.review(engine, 'Dark mode');
  const page = await enter();
  await page.goto(`${site.url}/runs/${run}/workflow`);
  await page.getByRole('region', { name: 'Dry run' }).getByRole('button', { name: 'Next' }).click();
  await expect.poll(() => new URL(page.url()).searchParams.get('move')).toBe('2');
  await page.goto(`${site.url}/workflows/go`);
  await page.getByRole('region', { name: 'This move' }).waitFor();
  await page.goto(`${site.url}/runs/${run}/review/${encodeURIComponent(await at())}`);
  await page.getByRole('heading', { name: 'Your decision' }).waitFor();
  expect(await page.getByText('The change').count()).toBe(0);
});
