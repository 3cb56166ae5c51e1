/** No page or state breaks a rule of accessibility or is wider than its window: light and dark, wide and narrow. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { browserProgram, openBrowser } from '../../kit/browser.ts';
import { type FileSite, openFileSite, openTeamSite } from '../../kit/dashboard/site.ts';
import { definitions, type Situation, situations } from '../../kit/dashboard/situations.ts';
import { actions } from './actions.ts';
import { fillDecision, openDecision } from './perform.ts';

const hasParts = browserProgram !== undefined && spawnSync('tmux', ['-V']).status === 0;
const wide = { width: 1280, height: 800 };
const narrow = { width: 360, height: 740 };

const resolver = createRequire(createRequire(import.meta.url).resolve('@axe-core/playwright'));
/** In each page from its beginning: to put it in for each look takes longer than the look. */
const axe = readFileSync(resolver.resolve('axe-core/axe.min.js'), 'utf8');

interface Violation {
  id: string;
  nodes: { html: string }[];
}

async function violationsIn(page: Page): Promise<unknown> {
  const found = await page.evaluate<Violation[]>(
    `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations)`,
  );
  return found.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]);
}

// The wide ones last: so the next page begins.
const looks = [narrow, wide].flatMap((viewport) =>
  (['light', 'dark'] as const).map((colorScheme) => ({ viewport, colorScheme })),
);

async function expectAccessible(page: Page, where: string): Promise<void> {
  for (const { viewport, colorScheme } of looks) {
    await page.setViewportSize(viewport);
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await page.evaluate('new Promise((then) => requestAnimationFrame(() => requestAnimationFrame(then)))');
    const look = `${where}, ${viewport.width} px, ${colorScheme}`;
    expect(await violationsIn(page), look).toEqual([]);
    const beyond = await page.evaluate<number[]>(
      `[document.documentElement, ...document.querySelectorAll('dialog[open]')]
        .map((each) => Math.max(each.scrollWidth, each.getBoundingClientRect().right) - innerWidth)`,
    );
    for (const px of beyond) expect(px, look).toBeLessThanOrEqual(0.5);
  }
}

describe.skipIf(!hasParts)('in every state', () => {
  let browser: Browser;
  let site: FileSite;
  let page: Page;
  const runs = new Map<Situation, string>();

  beforeAll(async () => {
    browser = await openBrowser();
    site = await openFileSite({}, definitions);
    page = await site.enter(browser);
    await page.addInitScript(axe);
    await page.reload();
  });
  afterAll(async () => {
    await browser?.close();
    await site?.[Symbol.asyncDispose]();
  });

  const open = async (situation: Situation, part = ''): Promise<void> => {
    const known = runs.get(situation);
    const run = known ?? (await situations[situation](site.engine, `A run: ${situation}`)).run;
    runs.set(situation, run);
    await page.goto(`${site.url}/runs/${run}${part}`);
    await page.getByRole('navigation', { name: 'Parts of the run' }).waitFor();
  };

  test('a project without runs', async () => {
    await page.getByText('stepfast init').waitFor();
    await expectAccessible(page, 'a project without runs');
  });

  test.each(Object.keys(situations) as Situation[])('a run: %s', async (situation) => {
    await open(situation);
    if (situation === 'tasks') await page.getByRole('button', { name: 'Fit the graph' }).waitFor();
    await expectAccessible(page, situation);
    if (situation !== 'tasks') return;
    await page.locator('.react-flow__node').last().click();
    await page.getByRole('button', { name: 'Close the task' }).waitFor();
    await expectAccessible(page, 'a task');
  });

  test.each(['?tab=journal', '?tab=briefing'])('the part %s of a run', async (part) => {
    await open('blocked', part);
    await page.waitForLoadState('networkidle').catch(() => undefined);
    await expectAccessible(page, part);
  });

  test.each(['/workflows', '/workflows/feature', '/workflows/feature?seed=3&move=9'])(
    'the page %s',
    async (path) => {
      await page.goto(`${site.url}${path}`);
      await page.getByRole('main').getByRole('heading').first().waitFor();
      await page.waitForLoadState('networkidle').catch(() => undefined);
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
    for (const situation of Object.keys(situations) as Situation[]) await open(situation);
    for (const search of ['', '?view=red', '?text=nothing-like-this']) {
      await page.goto(`${site.url}/${search}`);
      await page.getByRole('navigation', { name: 'Views' }).waitFor();
      await page.waitForLoadState('networkidle').catch(() => undefined);
      await expectAccessible(page, `/${search}`);
    }
  });

  test.for(actions.map((action) => [action.does, action] as const))(
    'the dialog in which a person %s',
    async ([does, action]) => {
      await open(action.in);
      const form = await openDecision(page, action);
      await fillDecision(form, action);
      await expectAccessible(page, does);
    },
  );

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
      await page.goto(`${site.url}${path}`);
      await page.getByRole('main').getByRole('heading').first().waitFor();
      await expectAccessible(page, path);
    }
  });
});

test.skipIf(!hasParts)('the page to sign in is accessible', async () => {
  await using site = await openTeamSite();
  const browser = await openBrowser();
  try {
    const context = await browser.newContext({ viewport: wide });
    context.setDefaultTimeout(120_000);
    const page = await context.newPage();
    await page.addInitScript(axe);
    await page.goto(site.url);
    await page.getByLabel('Passphrase').waitFor();
    await expectAccessible(page, 'sign in');
  } finally {
    await browser.close();
  }
});
