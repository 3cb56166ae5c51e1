/** What one person decides, others see. How fast is measured by `npm run dashboard`. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { canOpenDashboard, sharedBrowser } from '../../kit/browser.ts';
import { measureSeen } from '../../kit/dashboard/seen.ts';
import { type FileSite, openFileSite } from '../../kit/dashboard/site.ts';
import { definitions, situations } from '../../kit/dashboard/situations.ts';

/** As in a window with many tabs, of which one is in front. */
const hide = (page: Page, isHidden: boolean): Promise<void> =>
  page.evaluate(
    `Object.defineProperty(document, 'hidden', { value: ${isHidden}, configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));`,
  );

describe.skipIf(!canOpenDashboard)('over files', () => {
  let site: FileSite;
  beforeAll(async () => {
    site = await openFileSite({}, definitions);
  });
  afterAll(async () => await site?.[Symbol.asyncDispose]());

  test('ten tabs are more than a browser has connections, and all of them work', async () => {
    const first = await site.enter(await sharedBrowser());
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
    await first.context().close();
  });

  test('another browser sees a decision in the list, in what needs a person and on the run', async () => {
    const { row, needs, page } = await measureSeen(site, await sharedBrowser(), 1);
    // Clocks of two processes may differ by a little.
    for (const ms of [...row, ...needs, ...page]) expect(ms).toBeGreaterThan(-50);
    expect(row).toHaveLength(1);
  });
});
