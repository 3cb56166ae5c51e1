/** The dashboard in a real browser, over real runs in files, started by a person in a real terminal. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { browserProgram, openBrowser } from '../../kit/browser.ts';
import { startCutProxy } from '../../kit/cut-proxy.ts';
import { cli, openStage, type Stage } from './stage.ts';

const hasParts = browserProgram !== undefined && spawnSync('tmux', ['-V']).status === 0;
const it = test.skipIf(!hasParts);
const person = { actor: { kind: 'person' as const, name: 'Ada' } };

let browser: Browser;
let stage: Stage;
let page: Page;
let problems: string[];

beforeAll(async () => {
  if (hasParts) browser = await openBrowser();
});
afterAll(async () => await browser?.close());
beforeEach(async () => {
  if (!hasParts) return;
  stage = await openStage();
  problems = [];
  page = (await openPage()).page;
});
afterEach(async () => {
  for (const opened of browser?.contexts() ?? []) await opened.close();
  await stage?.[Symbol.asyncDispose]();
});

async function openPage(link?: string, proxy?: { server: string; bypass: string }) {
  const viewport = { width: 1280, height: 900 };
  const opened = await browser.newContext({ viewport, ...(proxy ? { proxy } : {}) });
  // Slow is no failure.
  opened.setDefaultTimeout(120_000);
  const first = await opened.newPage();
  first.on('pageerror', (error) => problems.push(String(error)));
  first.on('console', (message) => {
    if (message.type() === 'error') problems.push(message.text());
  });
  await first.goto(link ?? (await stage.link()));
  return { context: opened, page: first };
}

const stateOf = async (run: string) => (await stage.runtime.engine.view(run))?.state;
const goTo = (path: string) => page.goto(new URL(path, page.url()).href);

it('a fresh project shows what to do first, and a link works once', async () => {
  const used = await stage.link();
  await page.getByText('stepfast init').waitFor();
  expect((await page.request.get(used)).status()).toBe(401);
  const other = await openPage(await stage.newLink());
  await other.page.getByText('stepfast init').waitFor();
  await other.context.close();
  expect(problems).toEqual([]);
});

it('a review is found, read and decided with the keyboard, and another browser sees it', async () => {
  const { run, at, call } = await stage.start('Dark mode');
  await call({ type: 'advance', output: 'Colors come from tokens', at });
  const other = await openPage(await stage.newLink());
  await page.getByText('Plan waits for your review').first().waitFor();
  await expect.poll(() => page.title()).toContain('1');
  await other.page.getByText('Plan waits for your review').first().waitFor();
  await page.keyboard.press('1');
  await page.getByText('Colors come from tokens').waitFor();
  await page.keyboard.press('Control+Enter');
  await expect.poll(async () => (await stateOf(run))?.step).toBe('build');
  const { username } = (await import('node:os')).userInfo();
  expect((await stateOf(run))?.outputs.plan?.reviewed).toBe(username);
  await other.page.getByText('Plan waits for your review').first().waitFor({ state: 'hidden' });
  await other.context.close();
  expect(problems).toEqual([]);
});

it('work is sent back with words, and a question is answered', async () => {
  const { run, at, call } = await stage.start('Dark mode');
  await call({ type: 'advance', output: 'Planned', at });
  await goTo(`/runs/${run}/review/${encodeURIComponent(at)}`);
  await page.getByText('Send back').click();
  const send = page.getByRole('button', { name: 'Send back' });
  expect(await send.isDisabled()).toBe(true);
  await page.getByRole('textbox').fill('Name the colors');
  await send.click();
  await expect
    .poll(async () => Object.values((await stateOf(run))?.cursors ?? {})[0]?.feedback)
    .toBe('Name the colors');
  await call({ type: 'ask', text: 'Which blue?' });
  await goTo(`/runs/${run}`);
  await page.getByRole('link', { name: /^Answer/ }).click();
  await page.getByRole('textbox', { name: 'Your answer' }).fill('The dark one');
  await page.getByRole('button', { name: 'Answer' }).click();
  await expect.poll(async () => (await stateOf(run))?.questions[0]?.answer).toBe('The dark one');
  expect(problems).toEqual([]);
});

async function bottomOf(part: Locator): Promise<number> {
  const box = await part.boundingBox();
  if (!box) throw new Error('it is not shown');
  return box.y + box.height;
}

it('a task says what it is and waits for, and a step who approved it', async () => {
  const { run, at, call } = await stage.start('Dark mode');
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

it('a run is paused, continued, rewound and cancelled, each after the page has said what that does', async () => {
  const { run, at, call } = await stage.start('Dark mode');
  await call({ type: 'advance', output: 'Planned', at });
  await call({ type: 'review', verdict: 'approve', at }, person);
  await goTo(`/runs/${run}`);
  const act = async (item: RegExp, verb: RegExp, step?: string) => {
    await page.getByRole('button', { name: 'Actions' }).click();
    await page.getByRole('button', { name: item }).click();
    const dialog = page.getByRole('dialog');
    if (step !== undefined) await dialog.getByRole('combobox').selectOption(step);
    expect((await dialog.getByRole('status').textContent())?.length).toBeGreaterThan(20);
    await dialog.getByRole('button', { name: verb }).click();
    await dialog.waitFor({ state: 'hidden' });
  };
  await act(/^Pause/, /^Pause/);
  expect((await stateOf(run))?.paused).toBeDefined();
  await page.getByRole('link', { name: /^Continue/ }).waitFor();
  await act(/^Continue/, /^Continue/);
  expect((await stateOf(run))?.paused).toBeUndefined();
  await act(/^Rewind/, /^Rewind/, 'plan');
  expect((await stateOf(run))?.step).toBe('plan');
  await act(/^Cancel the run/, /^Cancel/);
  expect((await stateOf(run))?.status).toBe('cancelled');
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
  const { at, call } = await stage.start('Dark mode');
  const far = await openPage(await stage.newLink(), { server: proxy.url, bypass: '<-loopback>' });
  await far.page.getByText('Dark mode').first().waitFor();
  await far.page.getByText('Live').waitFor();
  proxy.cut();
  await far.page.getByText('Connection lost').waitFor();
  await call({ type: 'advance', output: 'Planned', at });
  proxy.restore();
  await far.page.getByText('Plan waits for your review').first().waitFor();
  await far.page.getByText('Connection lost').waitFor({ state: 'hidden' });
  expect(await far.page.getByText('Live').count()).toBe(1);
});

it('started without a terminal the pages only read', async () => {
  const { run, at, call } = await stage.start('Dark mode');
  await call({ type: 'advance', output: 'Planned', at });
  const env = { PATH: process.env.PATH ?? '', HOME: stage.project.home };
  const child = spawn(process.execPath, [cli, 'ui'], { cwd: stage.project.root, env });
  try {
    const [link] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
    const reader = await openPage(link);
    await reader.page.goto(new URL(`/runs/${run}`, reader.page.url()).href);
    await reader.page.getByText('This page only reads').first().waitFor();
    expect(await reader.page.getByRole('link', { name: /^Review/ }).count()).toBe(0);
    expect(await reader.page.getByRole('button', { name: 'Actions' }).count()).toBe(0);
    await reader.context.close();
  } finally {
    child.kill('SIGTERM');
    await once(child, 'exit');
  }
});
