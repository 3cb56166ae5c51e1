import type { CDPSession, Page } from 'playwright-core';
import { longestDuring, settle, slowDown } from './main-thread.ts';
import type { Report } from './report.ts';

/** A run with a thousand tasks and ten thousand events: it opens, and each part is used. */
export async function measureLongRun(
  report: Report,
  page: Page,
  session: CDPSession,
  { url, run, tries }: { url: string; run: string; tries: number },
): Promise<void> {
  const path = `${url}/runs/${run}`;
  for (const rate of [1, 4]) {
    await slowDown(session, rate);
    let opened = Number.POSITIVE_INFINITY;
    const opening = async (): Promise<void> => {
      await page.goto(path);
      await page.getByText('Move the articles of part 0').first().waitFor();
      opened = Math.min(opened, await page.evaluate<number>('performance.now()'));
      await settle(page, 1000);
    };
    const longest = await longestDuring(page, opening, tries);
    report.add(`longRunOpensAt${rate}`, `opens, tasks in sight, at ${rate} ×`, opened, 'ms');
    report.add(`longRunOpenTaskAt${rate}`, '  longest task', longest.busy, 'ms');
    for (const [name, use] of Object.entries(uses)) {
      const { busy } = await longestDuring(page, () => use(page), tries);
      report.add(`longRun${name}At${rate}`, `  ${name}, longest task`, busy, 'ms');
    }
    await slowDown(session, 1);
  }
  const answer = await page.request.get(`${url}/v1/runs/${run}/page`);
  report.add('longRunPageKb', 'answer of its page', (await answer.body()).length / 1000, 'KB');
  const ms = await page.evaluate<number>(`(async () => {
    const from = performance.now();
    await (await fetch('/v1/runs/${run}/page')).json();
    return performance.now() - from;
  })()`);
  report.add('longRunPageMs', '  in', ms, 'ms');
  await page.goto(path);
  await page.getByText('Move the articles of part 0').first().waitFor();
  report.add(
    'longRunElements',
    'elements in the page',
    await page.evaluate<number>("document.querySelectorAll('*').length"),
    '',
  );
}

const part = async (page: Page, name: string): Promise<void> => {
  await page.getByRole('navigation', { name: 'Parts of the run' }).getByText(name, { exact: true }).click();
};

const uses: Record<string, (page: Page) => Promise<void>> = {
  async scrolled(page) {
    await page.mouse.move(640, 600);
    for (let turn = 0; turn < 20; turn += 1) {
      await page.mouse.wheel(0, 1500);
      await page.waitForTimeout(16);
    }
    await page.evaluate("document.querySelector('main').scrollTop = 0");
  },
  async steps(page) {
    for (const step of await page.locator('ol button[aria-pressed]').all()) await step.click();
    await page.locator('ol button[aria-pressed]').nth(1).click();
  },
  async journal(page) {
    await part(page, 'Journal');
    const filter = page.getByRole('searchbox', { name: 'Filter the journal' });
    await filter.waitFor();
    await page.locator('section[aria-labelledby=journal] li').first().waitFor();
    await filter.pressSequentially('round 12', { delay: 30 });
    await settle(page, 300);
    await part(page, 'Run');
  },
  async briefing(page) {
    await part(page, 'Briefing');
    await page.getByRole('region', { name: 'Text of the briefing' }).waitFor();
    await part(page, 'Run');
  },
  async log(page) {
    const gates = page.locator('table button');
    for (const index of [0, 5, 1]) if ((await gates.count()) > index) await gates.nth(index).click();
  },
};
