/** What one person decides, others see. How fast is measured by `npm run dashboard`. */
import { spawnSync } from 'node:child_process';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { browserProgram, openBrowser } from '../../kit/browser.ts';
import { measureSeen } from '../../kit/dashboard/seen.ts';
import { openFileSite, openTeamSite } from '../../kit/dashboard/site.ts';
import { definitions } from '../../kit/dashboard/situations.ts';

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
