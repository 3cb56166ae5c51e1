import type { CDPSession, Page } from 'playwright-core';
import { median } from '../figures.ts';
import { longestDuring, settle, slowDown } from './main-thread.ts';
import type { Report } from './report.ts';

const rowLink = '[role=row] a';

/** What a person does with a list, each as often as it takes to notice. */
const uses: Record<string, (page: Page) => Promise<void>> = {
  async wheel(page) {
    await page.mouse.move(640, 600);
    for (let turn = 0; turn < 25; turn += 1) {
      await page.mouse.wheel(0, 900);
      await page.waitForTimeout(16);
    }
  },
  /** A scroll bar has no element: the page sees a new position in each frame. */
  async drag(page) {
    await page.evaluate(`new Promise((resolve) => {
      const box = document.querySelector('main');
      const end = box.scrollHeight - box.clientHeight;
      const stops = [end / 2, end, 0];
      let frame = 0;
      const from = [0, end / 2, end];
      const move = () => {
        const leg = Math.floor(frame / 30);
        if (leg >= stops.length) return resolve();
        box.scrollTop = from[leg] + ((stops[leg] - from[leg]) * ((frame % 30) + 1)) / 30;
        frame += 1;
        requestAnimationFrame(move);
      };
      move();
    })`);
  },
  async keys(page) {
    for (const key of [
      'End',
      'Home',
      'PageDown',
      'PageDown',
      'PageUp',
      ...Array(20).fill('j'),
      'End',
      'Home',
    ]) {
      await page.keyboard.press(key);
      await page.waitForTimeout(30);
    }
  },
  async search(page) {
    const field = page.getByRole('searchbox', { name: 'Filter runs' });
    await field.fill('');
    await field.pressSequentially('tax cart 1', { delay: 40 });
    await settle(page, 500);
    await field.fill('');
    await settle(page, 400);
  },
  async views(page) {
    const views = page.getByRole('navigation', { name: 'Views' });
    for (const name of [/^Red/, /^Complete/, /^All/]) {
      await views.getByRole('button', { name }).click();
      await settle(page, 250);
    }
  },
};

const names: Record<string, string> = {
  wheel: 'scrolled by the wheel',
  drag: 'dragged to the middle, the end and back',
  keys: 'jumped with keys',
  search: 'searched',
  views: 'filtered',
};

/** The longest that the list does not answer, at full speed and four times slower. */
export async function measureList(
  report: Report,
  page: Page,
  session: CDPSession,
  { url, name, tries }: { url: string; name: string; tries: number },
): Promise<void> {
  for (const [rate, limit] of [
    [1, 50],
    [4, 200],
  ] as const) {
    await page.goto(url);
    await page.locator(rowLink).first().waitFor();
    await slowDown(session, rate);
    for (const [use, act] of Object.entries(uses)) {
      const longest = await longestDuring(page, () => act(page), tries);
      report.add(
        `${name}${use}At${rate}`,
        `${names[use]}, longest task at ${rate} ×`,
        longest.busy,
        'ms',
        limit,
      );
      report.add(`${name}${use}ClockAt${rate}`, '  by the clock', longest.clock, 'ms');
    }
    await slowDown(session, 1);
  }
  const elements = await page.evaluate<number>("document.querySelectorAll('*').length");
  report.add(`${name}Elements`, 'elements in the page', elements, '');
}

/** How long the API takes for a page of rows. */
export async function measureRows(report: Report, page: Page, name: string): Promise<void> {
  const searches: [string, string][] = [
    ['rows', ''],
    ['rowsFar', 'offset=far'],
    ['search', 'text=tax+cart'],
    ['searchRare', 'text=address+1234'],
    ['searchNone', 'text=nothing-like-this'],
    ['tone', 'tone=red'],
  ];
  for (const [what, query] of searches) {
    const times = await page.evaluate<number[]>(`(async () => {
      const { total } = await (await fetch('/v1/rows?offset=0&limit=1')).json();
      const query = ${JSON.stringify(query)}.replace('offset=far', 'offset=' + Math.max(0, total - 100));
      const times = [];
      for (let count = 0; count < 11; count += 1) {
        const from = performance.now();
        await (await fetch('/v1/rows?limit=100&' + (query.includes('offset') ? query : 'offset=0&' + query))).json();
        times.push(performance.now() - from);
      }
      return times;
    })()`);
    report.add(`${name}${what}Ms`, `/v1/rows ${query || 'first page'}, median of 11`, median(times), 'ms');
  }
}
