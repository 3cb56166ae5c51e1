import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import { createTestProject } from '../../src/testing/index.ts';
import type { Report } from './report.ts';

const root = join(import.meta.dirname, '../..');
const assets = join(root, 'dist/dashboard/assets');
const kilobytes = (file: string): number =>
  gzipSync(readFileSync(join(assets, file)), { level: 9 }).length / 1000;

/** The scripts that the first page loads before it fetches others at leisure. */
export async function scriptsOf(page: Page, url: string, selector: string): Promise<string[]> {
  const context = page.context();
  const first = await context.newPage();
  await first.addInitScript('window.requestIdleCallback = () => 0');
  await first.goto(url);
  await first.locator(selector).first().waitFor();
  await first.waitForLoadState('networkidle').catch(() => undefined);
  const names = await first.evaluate<string[]>(
    "performance.getEntriesByType('resource').map(({ name }) => new URL(name).pathname).filter((path) => path.endsWith('.js'))",
  );
  await first.close();
  return [
    ...new Set(
      names.filter((name) => name.startsWith('/assets/')).map((name) => name.slice('/assets/'.length)),
    ),
  ];
}

export function reportSizes(report: Report, list: readonly string[], run: readonly string[]): void {
  const sum = (files: readonly string[]): number => files.reduce((all, file) => all + kilobytes(file), 0);
  report.add('listScriptKb', 'JavaScript of the list, gzip', sum(list), 'KB', 120);
  report.add('runScriptKb', 'JavaScript of a run with a graph, gzip', sum(run), 'KB');
  const all = readdirSync(assets);
  const lazy = all.filter((file) => file.endsWith('.js') && !list.includes(file));
  report.add(
    'largestLazyKb',
    'largest chunk that is loaded later, gzip',
    Math.max(...lazy.map(kilobytes)),
    'KB',
    90,
  );
  const styles = all.filter((file) => file.endsWith('.css'));
  report.add('stylesKb', 'all styles, gzip', sum(styles), 'KB');
}

interface Packed {
  size: number;
  unpackedSize: number;
}

export function reportPackage(report: Report): void {
  const [packed] = JSON.parse(
    execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
      cwd: root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      maxBuffer: 1e8,
    }),
  ) as Packed[];
  report.add('packedMb', 'the package, packed', (packed?.size ?? Number.NaN) / 1e6, 'MB');
  report.add('unpackedMb', 'the package, unpacked', (packed?.unpackedSize ?? Number.NaN) / 1e6, 'MB', 15);
}

/** What is only in files of the server and the dashboard. */
const marks = ['require-trusted-types-for', '/v1/overview'];

/** What other commands load because there is a dashboard: nothing. */
export function reportLoaded(report: Report): void {
  using project = createTestProject();
  const trace = join(import.meta.dirname, 'trace-loaded.ts');
  for (const command of ['--version', 'status', 'runs']) {
    const { stderr } = runTraced(trace, command, project);
    const files = [...new Set(stderr.split('\n').filter((line) => line.startsWith('loaded ')))].map((line) =>
      line.slice('loaded '.length),
    );
    const texts = files.map((file) => readFileSync(file, 'utf8'));
    const name = command.replace('--', '');
    report.add(`${name}Files`, `files that stepfast ${command} loads`, files.length, '');
    report.add(`${name}Kb`, '  of together', texts.reduce((all, text) => all + text.length, 0) / 1000, 'KB');
    const server = texts.filter((text) => marks.some((mark) => text.includes(mark)));
    report.add(
      `${name}ServerFiles`,
      '  of server or dashboard',
      files.length === 0 ? Number.NaN : server.length,
      '',
      0,
    );
  }
}

function runTraced(
  trace: string,
  command: string,
  { root: cwd, env }: ReturnType<typeof createTestProject>,
): { stderr: string } {
  const args = ['--import', trace, join(root, 'dist/cli.js'), command];
  return spawnSync(process.execPath, args, { cwd, env, encoding: 'utf8' });
}
