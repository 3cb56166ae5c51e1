/** Visits every page of a run, and expects what agents and workflows wrote to be text. */
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { type Site, whenReady } from '../../kit/dashboard/site.ts';

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

export interface HostilePages {
  visit(path: string): Promise<void>;
  expectClean(where: string): Promise<void>;
  /** Opens every part of the run's page, every dialog and its decision. */
  openParts(run: string): Promise<void>;
  /** All text that was on a page. */
  shown(): string;
}

export async function openHostilePages({ url }: Site, page: Page): Promise<HostilePages> {
  const met: string[] = [];
  let shown = '';
  await page.addInitScript(watch);
  page.on('dialog', (dialog) => {
    met.push(`dialog ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== url) met.push(request.url());
  });
  page.on('pageerror', (error) => met.push(String(error)));
  page.on('framenavigated', (frame) => {
    if (new URL(frame.url()).origin !== url) met.push(`went to ${frame.url()}`);
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
    await page.goto(`${url}${path}`);
    await whenReady(page);
    await expectClean(path);
  }

  async function openItem(item: string, run: string): Promise<void> {
    const actions = page.getByRole('button', { name: 'Actions' });
    if ((await actions.count()) === 0) return;
    await actions.click();
    const found = page.locator('[popover]').getByRole('button', { name: item });
    if ((await found.count()) > 0) {
      await found.click();
      await page.getByRole('dialog').waitFor();
      await expectClean(`${item} of ${run}`);
    }
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
  }

  return {
    visit,
    expectClean,
    shown: () => shown,
    async openParts(run) {
      for (const tab of ['journal', 'briefing']) await visit(`/runs/${run}?tab=${tab}`);
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
        await whenReady(page);
        await expectClean(`a log of ${run}`);
      }
      for (const item of ['Rewind', 'Drop a task', 'Cancel']) await openItem(item, run);
      const need = page.getByRole('region', { name: 'Needs you' }).getByRole('link');
      if ((await need.count()) === 0) return;
      await need.first().click();
      await page.locator('form').first().waitFor();
      await expectClean(`the decision of ${run}`);
    },
  };
}
