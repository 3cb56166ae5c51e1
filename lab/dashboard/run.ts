/**
 * `npm run dashboard [-- --small] [PART ...]`: what the dashboard costs, in a real browser over both stores: long lists, a long run, the
 * time until a page can be used, two browsers, sizes. Prints a table and one JSON line; fails if a limit is broken. Other
 * programs on the machine make times longer.
 */
import { parseArgs } from 'node:util';
import type { Browser, CDPSession, Page } from 'playwright-core';
import { ensureBuilt } from '../../scripts/ensure-built.ts';
import { browserProgram, openBrowser } from '../../test/kit/browser.ts';
import { measureSeen } from '../../test/kit/dashboard/seen.ts';
import { openFileSite, openTeamSite, type Site } from '../../test/kit/dashboard/site.ts';
import { definitions, situations } from '../../test/kit/dashboard/situations.ts';
import { median } from '../figures.ts';
import { fillDatabase, fillFiles, playLongRun } from './fill.ts';
import { measureList, measureRows } from './list.ts';
import { measureLongRun } from './long-run.ts';
import { interactiveAfter, settle, slowDown, watchMainThread } from './main-thread.ts';
import { Report } from './report.ts';
import { reportLoaded, reportPackage, reportSizes, scriptsOf } from './sizes.ts';

const parts = { database: overDatabase, files: overFiles, seen: inTwoBrowsers, package: ofPackage };
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { small: { type: 'boolean', default: false } },
});
const unknown = positionals.filter((name) => !Object.hasOwn(parts, name));
if (unknown.length > 0) {
  console.error(`Unknown part: ${unknown.join(', ')}. Parts: ${Object.keys(parts).join(', ')}`);
  process.exit(2);
}
const size = values.small
  ? { database: 2000, files: 200, tasks: 1000, events: 2000, rounds: 40, tries: 1, starts: 3, seen: 3 }
  : {
      database: 100_000,
      files: 2000,
      tasks: 1000,
      events: 10_000,
      rounds: 200,
      tries: 3,
      starts: 5,
      seen: 10,
    };

if (browserProgram === undefined) {
  console.error('There is no browser on this machine: install chromium.');
  process.exit(2);
}
ensureBuilt();
const report = new Report();
const browser = await openBrowser();
try {
  for (const [name, measure] of Object.entries(parts))
    if (positionals.length === 0 || positionals.includes(name)) await measure(browser);
} finally {
  await browser.close();
}
for (const { what, value, unit, limit } of report.broken)
  console.error(`${what}: ${value} ${unit}, more than ${limit} ${unit}`);
if (report.broken.length > 0) process.exitCode = 1;
console.log(JSON.stringify(report.json));

async function overDatabase(within: Browser): Promise<void> {
  await using site = await openTeamSite();
  const started = performance.now();
  await fillDatabase(site, size.database);
  report.part(`${size.database.toLocaleString('en')} runs in PostgreSQL`);
  report.add('databaseFillMs', 'filled', performance.now() - started, 'ms');
  const { page, session } = await open(site, within);
  const first = performance.now();
  await page.goto(site.url);
  await page.locator('[role=row] a').first().waitFor();
  report.add(
    'databaseFirstListMs',
    'first list ever: all summaries are made',
    performance.now() - first,
    'ms',
  );
  await measureRows(report, page, 'database');
  await measureList(report, page, session, { url: site.url, name: 'database', tries: size.tries });
  const graph = (await situations.tasks(site.engine, 'With a graph')).run;
  report.part('Until a page can be used, nothing cached, 4 × slower');
  await measureStart(page, session, {
    url: site.url,
    name: 'listStart',
    what: 'the list',
    selector: '[role=row] a',
    limit: 1300,
  });
  await measureStart(page, session, {
    ...{ url: `${site.url}/runs/${graph}`, name: 'runStart', what: 'a run with a graph' },
    ...{ selector: '.react-flow__node', limit: 2000 },
  });
  report.part('Sizes');
  reportSizes(
    report,
    await scriptsOf(page, site.url, '[role=row] a'),
    await scriptsOf(page, `${site.url}/runs/${graph}`, '.react-flow__node'),
  );
  const run = await playLongRun(site.engine, size);
  report.part(`A run with ${size.tasks} tasks and ${size.events} events`);
  await measureLongRun(report, page, session, { url: site.url, run, tries: size.tries });
  await page.context().close();
}

async function overFiles(within: Browser): Promise<void> {
  await using site = await openFileSite({}, definitions);
  const started = performance.now();
  await fillFiles(site.engine, size.files);
  report.part(`${size.files.toLocaleString('en')} runs in files`);
  report.add('filesFillMs', 'filled', performance.now() - started, 'ms');
  const first = performance.now();
  const { page, session } = await open(site, within);
  await page.locator('[role=row] a').first().waitFor();
  report.add('filesFirstListMs', 'first list: all runs are read', performance.now() - first, 'ms');
  await measureRows(report, page, 'files');
  await measureList(report, page, session, { url: site.url, name: 'files', tries: size.tries });
  await page.context().close();
}

async function inTwoBrowsers(within: Browser): Promise<void> {
  for (const openSite of [() => openFileSite({}, definitions), () => openTeamSite()]) {
    await using site = await openSite();
    await reportSeen(site, within);
  }
}

async function ofPackage(): Promise<void> {
  report.part('Other commands and the package');
  reportLoaded(report);
  reportPackage(report);
}

async function open(site: Site, within: Browser): Promise<{ page: Page; session: CDPSession }> {
  const page = await site.enter(within);
  await page.addInitScript(watchMainThread);
  const session = await page.context().newCDPSession(page);
  return { page, session };
}

async function measureStart(
  page: Page,
  session: CDPSession,
  {
    url,
    name,
    what,
    selector,
    limit,
  }: { url: string; name: string; what: string; selector: string; limit: number },
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
  report.add(name, `${what}, median of ${times.length}`, median(times), 'ms', limit);
  report.add(`${name}Best`, '  the fastest', Math.min(...times), 'ms');
}

async function reportSeen(site: Site, within: Browser): Promise<void> {
  report.part(`From a click to another browser, over ${site.store}`);
  const name = site.store === 'files' ? 'filesSeen' : 'databaseSeen';
  for (const [what, times] of Object.entries(await measureSeen(site, within, size.seen))) {
    report.add(`${name}${what}`, `${what}, median of ${times.length}`, median(times), 'ms', 1000);
    report.add(`${name}${what}Most`, '  at most', Math.max(...times), 'ms');
  }
}
