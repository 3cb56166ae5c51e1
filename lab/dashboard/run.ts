/**
 * `npm run dashboard [-- --small] [PART ...]`: what the dashboard costs, in a real browser over both stores: long lists, a
 * long run, the time until a page can be used, two browsers, sizes. Prints a table and one JSON line; fails if a limit is
 * broken. Other programs on the machine make times longer.
 */
import type { Browser, CDPSession, Page } from 'playwright-core';
import { ensureBuilt } from '../../scripts/ensure-built.ts';
import { browserProgram, openBrowser } from '../../test/kit/browser.ts';
import { measureSeen } from '../../test/kit/dashboard/seen.ts';
import { openFileSite, openTeamSite, type Site } from '../../test/kit/dashboard/site.ts';
import { definitions, situations } from '../../test/kit/dashboard/situations.ts';
import { median } from '../figures.ts';
import { options } from '../options.ts';
import { fillDatabase, fillFiles, playLongRun } from './fill.ts';
import { interactiveAfter, longestDuring, settle, slowDown } from './main-thread.ts';
import { Report } from './report.ts';
import { reportLoaded, reportPackage, reportScripts } from './sizes.ts';
import { listUses, longRunUses, type Uses } from './uses.ts';

const parts = { database: overDatabase, files: overFiles, seen: inTwoBrowsers, package: ofPackage };
const { small, names } = options({ small: false });
const unknown = names.filter((name) => !Object.hasOwn(parts, name));
if (unknown.length > 0) {
  console.error(`Unknown part: ${unknown.join(', ')}. Parts: ${Object.keys(parts).join(', ')}`);
  process.exit(2);
}
const size = small
  ? { database: 2000, files: 200, events: 2000, rounds: 40, tries: 1, starts: 3, seen: 3 }
  : { database: 100_000, files: 2000, events: 10_000, rounds: 200, tries: 3, starts: 5, seen: 10 };
const tasks = 1000;
const rowLink = '[role=row] a';

if (browserProgram === undefined) {
  console.error('There is no browser on this machine: install chromium.');
  process.exit(2);
}
ensureBuilt();
const report = new Report();
const browser = await openBrowser();
try {
  for (const [name, measure] of Object.entries(parts))
    if (names.length === 0 || names.includes(name)) await measure(browser);
} finally {
  await browser.close();
}
for (const { what, value, unit, limit } of report.broken)
  console.error(`${what}: ${value} ${unit}, more than ${limit} ${unit}`);
if (report.broken.length > 0) process.exitCode = 1;
console.log(JSON.stringify(Object.fromEntries(report.figures.map(({ name, value }) => [name, value]))));

async function overDatabase(within: Browser): Promise<void> {
  await using site = await openTeamSite();
  await fillDatabase(site, size.database);
  report.part(`${size.database.toLocaleString('en')} runs in PostgreSQL`);
  const { page, session } = await open(site, within);
  await measureList(page, session, site.url, 'database');
  report.part('Until a page can be used, nothing cached, 4 × slower');
  await measureStart(page, session, { what: 'list', url: site.url, selector: rowLink, limit: 1300 });
  const url = `${site.url}/runs/${(await situations.tasks(site.engine, 'With a graph')).run}`;
  await measureStart(page, session, { what: 'run', url, selector: '.react-flow__node', limit: 2000 });
  report.part('Sizes');
  await reportScripts(report, page, site.url);
  report.part(`A run with ${tasks} tasks and ${size.events} events`);
  const run = await playLongRun(site.engine, { ...size, tasks });
  await page.goto(`${site.url}/runs/${run}`);
  for (const rate of [1, 4]) await measureUses(page, session, { name: 'longRun', uses: longRunUses, rate });
  await page.context().close();
}

async function overFiles(within: Browser): Promise<void> {
  await using site = await openFileSite({}, definitions);
  await fillFiles(site.engine, size.files);
  report.part(`${size.files.toLocaleString('en')} runs in files`);
  const { page, session } = await open(site, within);
  await measureList(page, session, site.url, 'files');
  await page.context().close();
}

async function inTwoBrowsers(within: Browser): Promise<void> {
  for (const openSite of [() => openFileSite({}, definitions), () => openTeamSite()]) {
    await using site = await openSite();
    report.part(`From a click to another browser, over ${site.store}`);
    const name = site.store === 'files' ? 'filesSeen' : 'databaseSeen';
    for (const [what, times] of Object.entries(await measureSeen(site, within, size.seen)))
      report.add(`${name}${what}`, `${what}, median of ${times.length}`, median(times), 'ms', 1000);
  }
}

async function ofPackage(): Promise<void> {
  report.part('Other commands and the package');
  reportLoaded(report);
  reportPackage(report);
}

async function open(site: Site, within: Browser): Promise<{ page: Page; session: CDPSession }> {
  const page = await site.enter(within);
  return { page, session: await page.context().newCDPSession(page) };
}

async function measureList(page: Page, session: CDPSession, url: string, name: string): Promise<void> {
  for (const [rate, limit] of [
    [1, 50],
    [4, 200],
  ] as const) {
    await page.goto(url);
    await page.locator(rowLink).first().waitFor();
    await measureUses(page, session, { name, uses: listUses, rate, limit });
  }
}

/** The longest that the page doesn't answer in each use, so many times slower. */
async function measureUses(
  page: Page,
  session: CDPSession,
  { name, uses, rate, limit }: { name: string; uses: Uses; rate: number; limit?: number },
): Promise<void> {
  await slowDown(session, rate);
  for (const [use, act] of Object.entries(uses)) {
    const longest = await longestDuring(page, () => act(page), size.tries);
    report.add(`${name} ${use} at ${rate}`, `${use}, longest task at ${rate} ×`, longest, 'ms', limit);
  }
  await slowDown(session, 1);
}

async function measureStart(
  page: Page,
  session: CDPSession,
  { what, url, selector, limit }: { what: string; url: string; selector: string; limit: number },
): Promise<void> {
  await session.send('Network.enable');
  await session.send('Network.setCacheDisabled', { cacheDisabled: true });
  await slowDown(session, 4);
  const times: number[] = [];
  for (let count = 0; count < size.starts; count += 1) {
    times.push(await interactiveAfter(page, url, selector));
    await settle(page);
  }
  await slowDown(session, 1);
  await session.send('Network.setCacheDisabled', { cacheDisabled: false });
  report.add(`${what}Start`, `the ${what}, median of ${times.length}`, median(times), 'ms', limit);
}
