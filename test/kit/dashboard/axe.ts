/** Accessibility rules and widths of a page, in light and dark, wide and narrow. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

const resolver = createRequire(import.meta.resolve('@axe-core/playwright'));

/** For each page's beginning: injecting it for each look takes longer than the look. */
export const axe = readFileSync(resolver.resolve('axe-core/axe.min.js'), 'utf8');

const wide = { width: 1280, height: 800 };
const narrow = { width: 360, height: 740 };

/** The rules that depend on colors. The others see no difference between light and dark. */
const colors = ['color-contrast', 'link-in-text-block'];

interface Violation {
  id: string;
  nodes: { html: string }[];
}

async function violationsIn(page: Page, options: object): Promise<unknown> {
  const found = await page.evaluate<Violation[]>(
    `axe.run(document, ${JSON.stringify({ resultTypes: ['violations'], ...options })}).then(({ violations }) => violations)`,
  );
  return found.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]);
}

const widthsBeyond = (page: Page): Promise<number[]> =>
  page.evaluate(
    `[document.documentElement, ...document.querySelectorAll('dialog[open]')]
      .map((each) => Math.max(each.scrollWidth, each.getBoundingClientRect().right) - innerWidth)
      .filter((px) => px > 0.5)`,
  );

async function look(page: Page, viewport: typeof wide, colorScheme: 'light' | 'dark'): Promise<void> {
  await page.setViewportSize(viewport);
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
  await page.evaluate('new Promise((then) => requestAnimationFrame(() => requestAnimationFrame(then)))');
}

export async function expectAccessible(page: Page, where: string): Promise<void> {
  const rules = Object.fromEntries(colors.map((id) => [id, { enabled: false }]));
  await look(page, narrow, 'light');
  expect(await violationsIn(page, { rules }), `${where}, narrow`).toEqual([]);
  expect(await widthsBeyond(page), `${where}, narrow`).toEqual([]);
  // The wide ones last: so the next page begins.
  await look(page, wide, 'dark');
  expect(await violationsIn(page, { runOnly: colors }), `${where}, dark`).toEqual([]);
  await look(page, wide, 'light');
  expect(await violationsIn(page, {}), where).toEqual([]);
  expect(await widthsBeyond(page), where).toEqual([]);
}
