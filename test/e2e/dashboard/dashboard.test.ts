/** The dashboard in a real browser, over real runs in files, started by a person in a real terminal. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { BrowserContextOptions, Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { packageRoot } from '../../../src/cli/index.ts';
import { canOpenDashboard, sharedBrowser } from '../../kit/browser.ts';
import { startCutProxy } from '../../kit/cut-proxy.ts';
import { whenReady } from '../../kit/dashboard/site.ts';
import { openStage, type Stage } from './stage.ts';

const it = test.skipIf(!canOpenDashboard);
const person = { actor: { kind: 'person' as const, name: 'Ada' } };

let stage: Stage;
let page: Page;
let problems: string[];
const others: Page[] = [];

beforeAll(async () => {
  if (!canOpenDashboard) return;
  stage = await openStage({
    '.stepfast/workflows/broken.yaml': 'name: broken\nsteps: [{ id: a, type: nothing }]\n',
  });
  page = watched(await stage.enter(await sharedBrowser()));
});
beforeEach(() => {
  problems = [];
});
afterEach(async () => {
  for (const other of others.splice(0)) await other.context().close();
});
afterAll(async () => {
  await page?.context().close();
  await stage?.[Symbol.asyncDispose]();
});

function watched(opened: Page): Page {
  opened.on('pageerror', (error) => problems.push(String(error)));
  opened.on('console', (message) => {
    if (message.type() === 'error') problems.push(message.text());
  });
  return opened;
}

/** In another browser, which is closed after the test. */
async function openOther(options?: BrowserContextOptions): Promise<Page> {
  const other = watched(await stage.enter(await sharedBrowser(), options));
  others.push(other);
  return other;
}

const stateOf = async (run: string) => (await stage.runtime.engine.view(run))?.state;
const goTo = (path: string) => page.goto(new URL(path, page.url()).href);

it('a fresh project shows what to do first, and a link works once', async () => {
  await page.getByText('stepfast init').waitFor();
  const link = await stage.link();
  expect((await page.request.get(link)).status()).toBe(200);
  expect((await page.request.get(link)).status()).toBe(401);
  expect(problems).toEqual([]);
});

it('a review is found, read and decided with the keyboard, and another browser sees it', async () => {
  const { run, at, call } = await stage.start('Dark mode');
  await call({ type: 'advance', output: 'Colors come from tokens', at });
  const other = await openOther();
  await page.getByText('Plan waits for your review').first().waitFor();
  await expect.poll(() => page.title()).toContain('1');
  await other.getByText('Plan waits for your review').first().waitFor();
  await page.keyboard.press('1');
  await page.getByText('Colors come from tokens').waitFor();
  await page.keyboard.press('Control+Enter');
  await expect.poll(async () => (await stateOf(run))?.step).toBe('build');
  expect((await stateOf(run))?.outputs.plan?.reviewed).toBe(userInfo().username);
  await other.getByText('Plan waits for your review').first().waitFor({ state: 'hidden' });
  expect(problems).toEqual([]);
});

async function bottomOf(part: Locator): Promise<number> {
  const box = await part.boundingBox();
  if (!box) throw new Error('it is not shown');
  return box.y + box.height;
}

it('a task says what it is and waits for, and a step who approved it', async () => {
  const { run, at, call } = await stage.start('High contrast');
  await call({ type: 'advance', output: 'Planned', at });
  await call({ type: 'review', verdict: 'approve', at }, person);
  const tasks = [
    { id: 'one', title: 'Colors' },
    { id: 'two', title: 'Switch', description: 'In the menu', depends_on: ['one'] },
  ];
  await call({ type: 'setTasks', loop: 'build', tasks });
  await goTo(`/runs/${run}`);
  await page.getByLabel('Switch: waits for 1 task').click();
  const task = page.getByRole('region', { name: 'Switch' });
  await task.getByText('In the menu').waitFor();
  // Inside its card, which would cut off the rest.
  const card = page.getByRole('region', { name: 'Workflow' });
  expect(await bottomOf(task)).toBeLessThanOrEqual(await bottomOf(card));
  expect(await task.getByRole('listitem').allTextContents()).toEqual(
    expect.arrayContaining([expect.stringContaining('Colors')]),
  );
  await task.getByRole('button', { name: 'Close the task' }).click();
  await task.waitFor({ state: 'hidden' });
  await page.getByRole('button', { name: /Plan.*approved/ }).click();
  await page.getByText('Approved by Ada').waitFor();
  expect(problems).toEqual([]);
});

it('a red gate is seen with its log, and the tasks with what they depend on', async () => {
  const { at, call } = await stage.start('Refuse negative counts');
  await call({ type: 'note', kind: 'decision', text: 'Counts are whole numbers' });
  await call({ type: 'advance', output: 'Planned', at });
  await call({ type: 'review', verdict: 'approve', at }, person);
  const tasks = [
    { id: 't1', title: 'In the form' },
    { id: 't2', title: 'In the API', depends_on: ['t1'] },
  ];
  await call({ type: 'setTasks', loop: 'build', tasks });
  await call({ type: 'advance', output: 'Refused' });
  await goTo('/');
  await page.getByText('Refuse negative counts').first().click();
  await page.getByText('FAIL src/add.test.ts > adds').waitFor();
  await page.getByText('In the API').first().waitFor();
  await page.getByText('Counts are whole numbers').first().waitFor();
  const parts = page.getByRole('navigation', { name: 'Parts of the run' });
  await parts.getByText('Journal').click();
  await page
    .getByRole('main')
    .getByText(/^Started/)
    .first()
    .waitFor();
  await parts.getByText('Briefing').click();
  await page.getByRole('region', { name: 'Text of the briefing' }).getByText('Write the code.').waitFor();
  await page.getByRole('button', { name: 'See the log' }).click();
  await expect
    .poll(() => page.evaluate("document.getElementById('evidence')?.getBoundingClientRect().top"))
    .toBeLessThan(720);
  expect(problems).toEqual([]);
});

it('a lost connection is said, and what was missed is there when it is back', async () => {
  using proxy = await startCutProxy();
  const { at, call } = await stage.start('Fewer colors');
  const far = await openOther({ proxy: { server: proxy.url, bypass: '<-loopback>' } });
  await far.getByText('Fewer colors').first().waitFor();
  await far.getByText('Live').waitFor();
  proxy.cut();
  await far.getByText('Connection lost').waitFor();
  await call({ type: 'advance', output: 'Planned', at });
  proxy.restore();
  await far.getByText('Plan waits for your review').first().waitFor();
  await far.getByText('Connection lost').waitFor({ state: 'hidden' });
  expect(await far.getByText('Live').count()).toBe(1);
});

it('started without a terminal the pages only read', async () => {
  const { run, at, call } = await stage.start('Only read');
  await call({ type: 'advance', output: 'Planned', at });
  const env = { PATH: process.env.PATH ?? '', HOME: stage.project.home };
  const child = spawn(process.execPath, [join(packageRoot(), 'dist', 'cli.js'), 'ui'], {
    cwd: stage.project.root,
    env,
  });
  try {
    const [link] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
    const reader = await openOther();
    await reader.goto(link);
    await reader.goto(new URL(`/runs/${run}`, link).href);
    await reader.getByText('This page only reads').first().waitFor();
    expect(await reader.getByRole('link', { name: /^Review/ }).count()).toBe(0);
    expect(await reader.getByRole('button', { name: 'Actions' }).count()).toBe(0);
  } finally {
    child.kill('SIGTERM');
    await once(child, 'exit');
  }
});

const panel = () => page.getByRole('region', { name: 'Dry run' });
const moveShown = () => page.getByRole('region', { name: 'This move' });

it('workflows are listed, one that is broken with its problem', async () => {
  await goTo('/');
  await whenReady(page);
  await page.keyboard.press('g');
  await page.keyboard.press('w');
  await page.getByRole('link', { name: 'feature', exact: true }).waitFor();
  expect(await page.getByRole('main').getByText('nothing').count()).toBeGreaterThan(0);
  await page.getByRole('link', { name: 'feature', exact: true }).click();
  await page.getByRole('heading', { name: 'feature' }).waitFor();
  expect(problems).toEqual([]);
});

it('a dry run is clicked through to its end, by buttons and keys, and its place is in the address', async () => {
  const before = (await stage.runtime.engine.runs({ ended: true })).length;
  await goTo('/workflows/feature');
  await moveShown().getByText('Plan it with care.').waitFor();
  await panel().getByRole('button', { name: 'Next' }).click();
  await expect.poll(() => new URL(page.url()).searchParams.get('move')).toBe('2');
  await page.keyboard.press('ArrowRight');
  await expect.poll(() => new URL(page.url()).searchParams.get('move')).toBe('3');
  await page.keyboard.press('End');
  await moveShown().getByText('complete').first().waitFor();
  await expect.poll(() => panel().getByRole('button', { name: 'Next' }).isDisabled()).toBe(true);
  const last = page.url();
  await page.reload();
  await moveShown().getByText('complete').first().waitFor();
  expect(page.url()).toBe(last);
  await panel().getByText('With failures').click();
  await expect.poll(() => new URL(page.url()).searchParams.get('seed')).toBe('1');
  expect((await stage.runtime.engine.runs({ ended: true })).length).toBe(before);
  expect(problems).toEqual([]);
});

it('a review says that files have changed since its gates ran, and which', async () => {
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
  const review = `/runs/${run}/review/${encodeURIComponent(at)}`;
  await goTo(review);
  await page.getByText('src/a.txt').first().waitFor();
  expect(await page.getByText('no longer those').count()).toBe(0);
  stage.project.write({ 'src/b.txt': 'two\n' });
  await goTo(review);
  await page.getByText('no longer those').waitFor();
  await page.getByText('src/b.txt').first().waitFor();
  await goTo(`/runs/${run}`);
  await page.getByText('no longer those').waitFor();
  await page.getByText('1 stale').waitFor();
  await goTo(review);
  const before = (await stage.runtime.engine.entries(run)).length;
  await page.getByRole('button', { name: /^Approve/ }).click();
  // The gates run again on the files as they are now.
  await expect.poll(async () => (await stage.runtime.engine.view(run))?.state.status).toBe('complete');
  const events = (await stage.runtime.engine.entries(run)).slice(before).flatMap((entry) => entry.events);
  expect(events.map(({ type }) => type)).toEqual(expect.arrayContaining(['gates.finished', 'run.completed']));
  expect(problems).toEqual([]);
});
