/** Text of agents and workflows is text on every page, whatever is in it. */
import { spawnSync } from 'node:child_process';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { browserProgram, openBrowser } from '../../kit/browser.ts';
import { openFileSite, openTeamSite, type Site } from '../../kit/dashboard/site.ts';
import { corpus, type End, ends, playHostile } from './hostile.ts';

const hasParts = browserProgram !== undefined && spawnSync('tmux', ['-V']).status === 0;
const sites = { files: () => openFileSite(), PostgreSQL: () => openTeamSite() };

/** What must not be in a page, with what is there, and what it has met so far. */
const look = `(() => ({
  pwned: window.pwned,
  violations: window.violations,
  elements: [...document.querySelectorAll('.evil, iframe, object, embed, base, meta[http-equiv=refresh], main script, main img, main link, main style')].map(({ outerHTML }) => outerHTML),
  links: [...document.querySelectorAll('[href], [src], [action]')]
    .map((each) => each.getAttribute('href') ?? each.getAttribute('src') ?? each.getAttribute('action'))
    .filter((to) => /^[\\s\\u0000-\\u001f]*(?:javascript|data|vbscript):/i.test(to) || /evil\\.example/.test(new URL(to, location.href).host)),
  handlers: [...document.querySelectorAll('*')].flatMap((each) => each.getAttributeNames()).filter((name) => /^on/.test(name)),
}))()`;
const clean = { pwned: undefined, violations: [], elements: [], links: [], handlers: [] };

const watch = `window.violations = [];
document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
  window.violations.push(violatedDirective + ' ' + blockedURI));`;

describe.skipIf(!hasParts).each(Object.entries(sites))('over %s', (_, openSite) => {
  let browser: Browser;
  let site: Site;
  let page: Page;
  const met: string[] = [];
  const fields = new Set<string>();
  let shown = '';

  beforeAll(async () => {
    browser = await openBrowser();
    site = await openSite();
    page = await site.enter(browser);
    await page.addInitScript(watch);
    page.on('dialog', (dialog) => {
      met.push(`dialog ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on('request', (request) => {
      if (new URL(request.url()).origin !== site.url) met.push(request.url());
    });
    page.on('pageerror', (error) => met.push(String(error)));
    page.on('framenavigated', (frame) => {
      if (new URL(frame.url()).origin !== site.url) met.push(`went to ${frame.url()}`);
    });
  });
  afterAll(async () => {
    await browser?.close();
    await site?.[Symbol.asyncDispose]();
  });

  async function expectClean(where: string): Promise<void> {
    await page.evaluate('new Promise((then) => requestAnimationFrame(() => requestAnimationFrame(then)))');
    expect(await page.evaluate(look), where).toEqual(clean);
    expect(met, where).toEqual([]);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there.
    expect(await page.title(), where).not.toMatch(/[\u0000-\u001f\u200e\u200f\u202a-\u202e\u2066-\u2069]/);
    shown += await page.evaluate<string>('document.body.innerText + document.title');
  }

  async function visit(path: string): Promise<void> {
    await page.goto(`${site.url}${path}`);
    await page.getByRole('main').getByRole('heading').first().waitFor();
    await page.waitForLoadState('networkidle').catch(() => undefined);
    await expectClean(path);
  }

  async function openParts(run: string): Promise<void> {
    await visit(`/runs/${run}`);
    for (const button of await page.locator('ol button[aria-pressed]').all()) {
      await button.click();
      await expectClean(`a step of ${run}`);
      for (const task of await page.locator('.react-flow__node').all()) {
        await task.click();
        await expectClean(`a task of ${run}`);
      }
    }
    await page.evaluate(
      "for (const each of document.querySelectorAll('details')) each.setAttribute('open', '')",
    );
    for (const button of await page.locator('table button').all()) {
      await button.click();
      await expectClean(`a log of ${run}`);
    }
    for (const tab of ['journal', 'briefing']) await visit(`/runs/${run}?tab=${tab}`);
    for (const item of ['Rewind', 'Drop a task', 'Cancel']) await openItem(run, item);
  }

  async function openItem(run: string, item: string): Promise<void> {
    await visit(`/runs/${run}`);
    const actions = page.getByRole('button', { name: 'Actions' });
    if ((await actions.count()) === 0) return;
    await actions.click();
    const found = page.locator('[popover]').getByRole('button', { name: item });
    if ((await found.count()) === 0) return;
    await found.click();
    await page.getByRole('dialog').waitFor();
    await expectClean(`${item} of ${run}`);
  }

  test.each(ends)('a run with hostile text in every field that ends in %s shows it as text', async (end) => {
    const everything = corpus.join(' ');
    const { run } = await playHostile(site.engine, textOf(everything, fields), end);
    await openParts(run);
    const need = page.getByRole('region', { name: 'Needs you' }).getByRole('link');
    await visit(`/runs/${run}`);
    if ((await need.count()) > 0) {
      await need.first().click();
      await page.locator('form').first().waitFor();
      await expectClean(`the decision of ${run}`);
    }
  });

  test('each hostile text alone is text in the list, in the search and on the page of its run', async () => {
    const runs: string[] = [];
    for (const [index, payload] of corpus.entries()) {
      const end: End = ends[index % ends.length] ?? 'review';
      runs.push((await playHostile(site.engine, textOf(payload), end)).run);
    }
    await visit('/');
    for (const run of runs) await visit(`/runs/${run}`);
    await page.keyboard.press('Control+k');
    for (const words of ['', 'summary', '<img', 'javascript:', "'; --", '%', '\\']) {
      await page.getByRole('combobox').fill(words);
      await expectClean(`search for ${words}`);
    }
    await visit(`/?text=${encodeURIComponent(corpus.join(' ').slice(0, 500))}`);
    await visit(`/runs/${encodeURIComponent('<img class=evil src=x onerror=window.pwned=1>')}`);
    const unseen = [...fields].filter((field) => !shown.includes(`${field}:`));
    expect(unseen.filter((field) => !neverShown.has(field))).toEqual([]);
  });
});

/** Kept for agents and drivers; a page may leave them out. */
const neverShown = new Set([
  ...['description', 'agent description', 'sub-step instructions', 'first output', 'merge file'],
  ...['session', 'machine', 'person', 'host', 'holder'],
]);

function textOf(payload: string, fields = new Set<string>()) {
  return (field: string): string => {
    fields.add(field);
    return `${field}: ${payload}`;
  };
}
