/** Text of agents and workflows is text on every page, whatever is in it. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { canOpenDashboard, sharedBrowser } from '../../kit/browser.ts';
import { type FileSite, openFileSite } from '../../kit/dashboard/site.ts';
import { corpus, ends, playHostile } from './hostile.ts';
import { type HostilePages, openHostilePages } from './hostile-pages.ts';

describe.skipIf(!canOpenDashboard)('over files', () => {
  let site: FileSite;
  let page: Page;
  let pages: HostilePages;
  const fields = new Set<string>();

  beforeAll(async () => {
    site = await openFileSite();
    page = await site.enter(await sharedBrowser());
    pages = await openHostilePages(site, page);
  });
  afterAll(async () => {
    await page?.context().close();
    await site?.[Symbol.asyncDispose]();
  });

  test.each(ends)(
    'a run with every hostile text in every field that ends in %s shows it as text',
    async (end) => {
      const text = (field: string): string => {
        fields.add(field);
        return `${field}: ${corpus.join(' ')}`;
      };
      const { run } = await playHostile(site.engine, text, end);
      await pages.openParts(run);
    },
  );

  test('each hostile text alone is text in the list, in the search and on the page of its run', async () => {
    const runs: string[] = [];
    for (const [index, end] of ends.entries()) {
      // Each field has another text, and every run begins with another one.
      let next = index * Math.ceil(corpus.length / ends.length);
      const text = (field: string): string => `${field}: ${corpus[next++ % corpus.length]}`;
      runs.push((await playHostile(site.engine, text, end)).run);
    }
    await pages.visit('/');
    for (const run of runs) await pages.visit(`/runs/${run}`);
    await page.keyboard.press('Control+k');
    for (const words of ['', 'summary', '<img', 'javascript:', "'; --", '%', '\\']) {
      await page.getByRole('combobox').fill(words);
      await pages.expectClean(`search for ${words}`);
    }
    await pages.visit(`/?text=${encodeURIComponent(corpus.join(' ').slice(0, 500))}`);
    await pages.visit(`/runs/${encodeURIComponent('<img class=evil src=x onerror=window.pwned=1>')}`);
  });

  test('every field is on some page', () => {
    const unseen = [...fields].filter((field) => !pages.shown().includes(`${field}:`));
    expect(unseen.filter((field) => !neverShown.has(field))).toEqual([]);
  });
});

/** Kept for agents and drivers; a page may leave them out. */
const neverShown = new Set([
  ...['description', 'agent description', 'sub-step instructions', 'first output', 'merge file'],
  ...['session', 'machine', 'person', 'host', 'holder'],
]);
