/** How long one browser takes to show what was decided in another one. */
import type { Browser, Page } from 'playwright-core';
import type { Site } from './site.ts';
import { situations } from './situations.ts';

/** Milliseconds from the click in one browser until another one shows it, one figure for each round. */
export interface Seen {
  /** The row of the run in the list. */
  row: number[];
  /** What needs a person, above the list. */
  needs: number[];
  /** The page of the run. */
  page: number[];
}

const now = 'performance.timeOrigin + performance.now()';

/** When the condition first holds in the page. */
const whenSeen = (page: Page, condition: string): Promise<number> =>
  page.evaluate<number>(`new Promise((resolve) => {
    const look = () => {
      if (!(${condition})) return false;
      resolve(${now});
      return true;
    };
    if (look()) return;
    const observer = new MutationObserver(() => look() && observer.disconnect());
    observer.observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
  })`);

const rows = "[...document.querySelectorAll('[role=row]')]";
const main = "document.querySelector('main').textContent";

export async function measureSeen(site: Site, browser: Browser, rounds: number): Promise<Seen> {
  const one = await site.enter(browser);
  const list = await site.enter(browser);
  const page = await site.enter(browser);
  const seen: Seen = { row: [], needs: [], page: [] };
  for (let round = 0; round < rounds; round += 1) {
    const name = `Round ${round} of ${site.store}`;
    const { run, at } = await situations.review(site.engine, name);
    await one.goto(`${site.url}/runs/${run}/review/${encodeURIComponent(await at())}`);
    await page.goto(`${site.url}/runs/${run}`);
    await page.getByRole('region', { name: 'Needs you' }).waitFor();
    await list.getByRole('row').filter({ hasText: name }).getByText('waits for your review').waitFor();
    await list.getByRole('link', { name: `Review: ${name}` }).waitFor();
    const link = `[...document.querySelectorAll('a')].some((a) => a.getAttribute('aria-label') === ${JSON.stringify(`Review: ${name}`)})`;
    const isWaiting = `textContent.includes('waits for your review')`;
    const times = Promise.all([
      whenSeen(
        list,
        `${rows}.some((row) => row.textContent.includes(${JSON.stringify(name)}) && !row.${isWaiting})`,
      ),
      whenSeen(list, `!${link}`),
      whenSeen(page, `!${main}.includes('waits for your review')`),
    ]);
    const approve = one.getByRole('button', { name: /^Approve/ });
    await approve.waitFor();
    const clicked = one.evaluate<number>(
      `new Promise((resolve) => addEventListener('click', () => resolve(${now}), { capture: true, once: true }))`,
    );
    await approve.click();
    const from = await clicked;
    const [row, needs, pageAt] = await times;
    seen.row.push(row - from);
    seen.needs.push(needs - from);
    seen.page.push(pageAt - from);
  }
  for (const each of [one, list, page]) await each.context().close();
  return seen;
}
