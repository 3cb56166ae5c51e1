/** What one person decides, others see. How fast is measured by `npm run dashboard`. */
import { spawnSync } from 'node:child_process';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { browserProgram, openBrowser } from '../../kit/browser.ts';
import { measureSeen } from '../../kit/dashboard/seen.ts';
import { openFileSite, openTeamSite } from '../../kit/dashboard/site.ts';
import { definitions, situations } from '../../kit/dashboard/situations.ts';

const hasParts = browserProgram !== undefined && spawnSync('tmux', ['-V']).status === 0;
const sites = { files: () => openFileSite({}, definitions), PostgreSQL: () => openTeamSite() };

let browser: Browser;
beforeAll(async () => {
  if (hasParts) browser = await openBrowser();
});
afterAll(async () => await browser?.close());

test.skipIf(!hasParts).for(Object.entries(sites))(
  'another browser sees a decision in the list, in what needs a person and on the run, over %s',
  async ([, openSite]) => {
    await using site = await openSite();
    const { row, needs, page } = await measureSeen(site, browser, 2);
    // Clocks of two processes may differ by a little.
    for (const ms of [...row, ...needs, ...page]) expect(ms).toBeGreaterThan(-50);
    expect(row).toHaveLength(2);
  },
);

/** As in a window with many tabs, of which one is in front. */
const hide = (page: Page, isHidden: boolean): Promise<void> =>
  page.evaluate(
    `Object.defineProperty(document, 'hidden', { value: ${isHidden}, configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));`,
  );

test.skipIf(!hasParts)('ten tabs are more than a browser has connections, and all of them work', async () => {
  await using site = await openFileSite({}, definitions);
  const first = await site.enter(browser);
  const tabs = [first];
  for (let i = 0; i < 9; i++) {
    const tab = await first.context().newPage();
    await hide(tabs.at(-1) ?? first, true);
    await tab.goto(site.url);
    await tab.getByText('stepfast init').waitFor();
    tabs.push(tab);
  }
  await situations.question(site.engine, 'Which blue?');
  await tabs.at(-1)?.getByRole('gridcell', { name: 'Which blue?' }).waitFor();
  expect(await first.getByRole('gridcell').count()).toBe(0);
  await hide(first, false);
  await first.getByRole('gridcell', { name: 'Which blue?' }).waitFor();
});
