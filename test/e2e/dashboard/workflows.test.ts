/** Workflows with their dry run, and reviews beside the files, in a real browser over files and over PostgreSQL. */
import { spawnSync } from 'node:child_process';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { browserProgram, openBrowser } from '../../kit/browser.ts';
import { openTeamSite, type TeamSite } from '../../kit/dashboard/site.ts';
import { situations } from '../../kit/dashboard/situations.ts';
import { openStage, type Stage } from './stage.ts';

const hasParts = browserProgram !== undefined && spawnSync('tmux', ['-V']).status === 0;

let browser: Browser;
beforeAll(async () => {
  if (hasParts) browser = await openBrowser();
});
afterAll(async () => await browser?.close());

const panel = (page: Page) => page.getByRole('region', { name: 'Dry run' });
const moveShown = (page: Page) => page.getByRole('region', { name: 'This move' });

describe.skipIf(!hasParts)('over files', () => {
  let stage: Stage;
  let page: Page;
  let problems: string[];
  beforeAll(async () => {
    stage = await openStage({
      '.stepfast/workflows/broken.yaml': 'name: broken\nsteps: [{ id: a, type: nothing }]\n',
    });
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
    context.setDefaultTimeout(120_000);
    page = await context.newPage();
    problems = [];
    page.on('pageerror', (error) => problems.push(String(error)));
    await page.goto(await stage.link());
  });
  afterAll(async () => await stage?.[Symbol.asyncDispose]());

  test('workflows are listed, one that is broken with its problem', async () => {
    await page.getByText('stepfast init').waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('w');
    await page.getByRole('link', { name: 'feature', exact: true }).waitFor();
    expect(await page.getByRole('main').getByText('nothing').count()).toBeGreaterThan(0);
    await page.getByRole('link', { name: 'feature', exact: true }).click();
    await page.getByRole('heading', { name: 'feature' }).waitFor();
    expect(problems).toEqual([]);
  });

  test('a dry run is clicked through to its end, by buttons and keys, and its place is in the address', async () => {
    await page.goto(new URL('/workflows/feature', page.url()).href);
    await moveShown(page).getByText('Plan it with care.').waitFor();
    await panel(page).getByRole('button', { name: 'Next' }).click();
    await expect.poll(() => new URL(page.url()).searchParams.get('move')).toBe('2');
    await page.keyboard.press('ArrowRight');
    await expect.poll(() => new URL(page.url()).searchParams.get('move')).toBe('3');
    await page.keyboard.press('End');
    await moveShown(page).getByText('complete').first().waitFor();
    await expect.poll(() => panel(page).getByRole('button', { name: 'Next' }).isDisabled()).toBe(true);
    const last = page.url();
    await page.reload();
    await moveShown(page).getByText('complete').first().waitFor();
    expect(page.url()).toBe(last);
    await panel(page).getByText('With failures').click();
    await expect.poll(() => new URL(page.url()).searchParams.get('seed')).toBe('1');
    expect((await stage.runtime.engine.runs({ ended: true })).length).toBe(0);
    expect(problems).toEqual([]);
  });

  test('a review says that files have changed since its gates ran, and which', async () => {
    stage.project.write({
      '.stepfast/workflows/proof.yaml':
        'name: proof\ndescription: x\nsteps: [{ id: fix, type: action, title: Fix, instructions: x, gate: [{ run: "true" }], review: { by: human } }]\n',
    });
    stage.project.trust('proof');
    const session = { session: 'one' };
    const { reply, run = '' } = await stage.runtime.start({ workflow: 'proof', summary: 'Proof' }, session);
    const at = 'at' in reply ? (reply.at ?? '') : '';
    stage.project.write({ 'src/a.txt': 'one\n' });
    await stage.runtime.call({ type: 'advance', output: 'Fixed', at }, session, { run, waitMs: 60_000 });
    const review = new URL(`/runs/${run}/review/${encodeURIComponent(at)}`, page.url()).href;
    await page.goto(review);
    await page.getByText('src/a.txt').first().waitFor();
    expect(await page.getByText('no longer those').count()).toBe(0);
    stage.project.write({ 'src/b.txt': 'two\n' });
    await page.goto(review);
    await page.getByText('no longer those').waitFor();
    await page.getByText('src/b.txt').first().waitFor();
    await page.goto(new URL(`/runs/${run}`, page.url()).href);
    await page.getByText('no longer those').waitFor();
    await page.getByText('1 stale').waitFor();
    await page.goto(review);
    const before = (await stage.runtime.engine.entries(run)).length;
    await page.getByRole('button', { name: /^Approve/ }).click();
    // The gates run again on the files as they are now.
    await expect
      .poll(async () => (await stage.runtime.engine.view(run))?.state.status, { timeout: 60_000 })
      .toBe('complete');
    const events = (await stage.runtime.engine.entries(run)).slice(before).flatMap((entry) => entry.events);
    expect(events.map(({ type }) => type)).toEqual(
      expect.arrayContaining(['gates.finished', 'run.completed']),
    );
    expect(problems).toEqual([]);
  });
});

describe.skipIf(!hasParts)('over PostgreSQL', () => {
  let site: TeamSite;
  let page: Page;
  beforeAll(async () => {
    site = await openTeamSite();
    page = await site.enter(browser);
  });
  afterAll(async () => await site?.[Symbol.asyncDispose]());

  test('the workflow of a run is drawn and played, and what needs files is not shown', async () => {
    const { run, at } = await situations.review(site.engine, 'Dark mode');
    await page.goto(`${site.url}/runs/${run}/workflow`);
    await panel(page).getByRole('button', { name: 'Next' }).click();
    await expect.poll(() => new URL(page.url()).searchParams.get('move')).toBe('2');
    await page.goto(`${site.url}/workflows/go`);
    await moveShown(page).waitFor();
    await page.goto(`${site.url}/runs/${run}/review/${encodeURIComponent(await at())}`);
    await page.getByRole('heading', { name: 'Your decision' }).waitFor();
    expect(await page.getByText('The change').count()).toBe(0);
  });
});
