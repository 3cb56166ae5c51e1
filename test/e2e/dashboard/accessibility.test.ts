/** No page or state breaks a rule of accessibility or is wider than its window: light and dark, wide and narrow. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { canOpenDashboard, sharedBrowser } from '../../kit/browser.ts';
import { axe, expectAccessible } from '../../kit/dashboard/axe.ts';
import { type FileSite, openFileSite, whenReady } from '../../kit/dashboard/site.ts';
import { definitions, type Situation, situations } from '../../kit/dashboard/situations.ts';

describe.skipIf(!canOpenDashboard)('in every state', () => {
  let site: FileSite;
  let page: Page;
  const runs = new Map<Situation, string>();

  beforeAll(async () => {
    site = await openFileSite({}, definitions);
    page = await site.enter(await sharedBrowser());
    await page.addInitScript(axe);
    await page.reload();
  });
  afterAll(async () => {
    await page?.context().close();
    await site?.[Symbol.asyncDispose]();
  });

  const go = async (path: string): Promise<void> => {
    await page.goto(`${site.url}${path}`);
    await whenReady(page);
  };
  const runOf = async (situation: Situation): Promise<string> => {
    const run = runs.get(situation) ?? (await situations[situation](site.engine, `A run: ${situation}`)).run;
    runs.set(situation, run);
    return run;
  };
  const open = async (situation: Situation, part = ''): Promise<void> =>
    await go(`/runs/${await runOf(situation)}${part}`);

  test('a project without runs', async () => {
    await page.getByText('stepfast init').waitFor();
    await expectAccessible(page, 'a project without runs');
  });

  test.each(Object.keys(situations) as Situation[])('a run: %s', async (situation) => {
    await open(situation);
    await expectAccessible(page, situation);
    if (situation !== 'tasks') return;
    await page.locator('.react-flow__node').last().click();
    await page.getByRole('button', { name: 'Close the task' }).waitFor();
    await expectAccessible(page, 'a task');
  });

  test.each(['?tab=journal', '?tab=briefing'])('the part %s of a run', async (part) => {
    await open('blocked', part);
    await expectAccessible(page, part);
  });

  test.each(['/workflows', '/workflows/feature', '/workflows/feature?seed=3&move=9'])(
    'the page %s',
    async (path) => {
      await go(path);
      await expectAccessible(page, path);
    },
  );

  test('each step of a run', async () => {
    await open('parked');
    const steps = page.locator('ol button[aria-pressed]');
    expect(await steps.count()).toBe(4);
    for (const step of await steps.all()) {
      await step.click();
      await expectAccessible(page, (await step.textContent()) ?? '');
    }
  });

  test('the list with runs of every kind, and its views', async () => {
    for (const situation of Object.keys(situations) as Situation[]) await runOf(situation);
    for (const search of ['', '?view=red', '?text=nothing-like-this']) {
      await go(`/${search}`);
      await expectAccessible(page, `/${search}`);
    }
  });

  test('the search, the help, a page that does not exist and a run that does not', async () => {
    await open('working');
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').fill('run');
    await expectAccessible(page, 'the search');
    await page.keyboard.press('Escape');
    await page.keyboard.press('?');
    await page.getByRole('dialog').waitFor();
    await expectAccessible(page, 'the help');
    for (const path of ['/nothing', '/runs/nothing', `/runs/${runs.get('working')}/review/nothing`]) {
      await go(path);
      await expectAccessible(page, path);
    }
  });
});
