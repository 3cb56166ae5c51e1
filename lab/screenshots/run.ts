/** `npm run screenshots [-- NAME ...]`: the pictures in docs/images, of real runs in a real browser. */
import { mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { Page } from 'playwright-core';
import { ensureBuilt } from '../../scripts/ensure-built.ts';
import { browserProgram, openBrowser } from '../../test/kit/browser.ts';
import { type FileSite, openProjectSite } from '../../test/kit/dashboard/site.ts';
import { playShop } from './scenes.ts';
import { bugfix, checkout, createShop } from './shop.ts';

const folder = join(import.meta.dirname, '..', '..', 'docs', 'images');
const sizes = { 1280: { width: 1280, height: 800 }, 360: { width: 360, height: 740 } };
const maxBytes = 5_000_000;

if (browserProgram === undefined) {
  console.error('There is no browser on this machine: install chromium.');
  process.exit(2);
}
ensureBuilt();
mkdirSync(folder, { recursive: true });
// Commands on the pages are as where Stepfast is installed.
const programs = mkdtempSync(join(tmpdir(), 'stepfast-'));
symlinkSync(join(import.meta.dirname, '..', '..', 'dist', 'cli.js'), join(programs, 'stepfast'));
process.env.PATH = `${programs}${delimiter}${process.env.PATH}`;
const wanted = process.argv.slice(2);
const isWanted = (name: string): boolean => wanted.length === 0 || wanted.includes(name);
let bytes = 0;
const browser = await openBrowser();
try {
  await using empty = await openProjectSite(createShop());
  await shoot(empty, { empty: '/' });
  const shop = createShop();
  for (const definition of [checkout, bugfix])
    shop.runtime().trust.give(definition, { now: Date.now(), by: 'person' });
  await using site = await openProjectSite(shop);
  const paths = await playShop(site.engine, shop);
  await shoot(site, paths);
  shop.write('src/form.js', 'export const isCount = (text) => /^[1-9]\\d*$/.test(text);\n');
  await shoot(site, { stale: paths.review ?? '' });
} finally {
  await browser.close();
  rmSync(programs, { recursive: true });
}
console.log(`${Math.round(bytes / 1000)} KB`);
if (bytes > maxBytes) {
  console.error(`More than ${maxBytes / 1000} KB.`);
  process.exitCode = 1;
}

async function shoot(site: FileSite, paths: Record<string, string>): Promise<void> {
  const page = await site.enter(browser, { deviceScaleFactor: 1, reducedMotion: 'reduce' });
  for (const [name, path] of Object.entries(paths))
    if (isWanted(name))
      for (const colorScheme of ['light', 'dark'] as const)
        for (const [width, viewport] of Object.entries(sizes)) {
          await page.emulateMedia({ colorScheme });
          await page.setViewportSize(viewport);
          await page.goto(`${site.url}${path}`);
          await isReady(page, name);
          const file = join(folder, `${name}-${width}-${colorScheme}.png`);
          await page.screenshot({ path: file });
          bytes += statSync(file).size;
          console.log(file.slice(folder.length + 1));
        }
  await page.context().close();
}

async function isReady(page: Page, name: string): Promise<void> {
  await page.getByRole('main').getByRole('heading').first().waitFor();
  await page.waitForLoadState('networkidle').catch(() => undefined);
  if (name === 'list') await page.getByRole('row').nth(1).getByRole('link').waitFor();
  if (name === 'red') await page.getByRole('region', { name: 'Lines of the log' }).scrollIntoViewIfNeeded();
  // Fonts, and graphs that fit themselves.
  await page.waitForTimeout(600);
}
