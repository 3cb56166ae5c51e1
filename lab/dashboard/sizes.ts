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

/** What the list loads before it fetches other scripts at leisure, and the largest of those. */
export async function reportScripts(report: Report, page: Page, url: string): Promise<void> {
  const first = await page.context().newPage();
  await first.addInitScript('window.requestIdleCallback = () => 0');
  await first.goto(url);
  await first.locator('[role=row] a').first().waitFor();
  await first.waitForLoadState('networkidle').catch(() => undefined);
  const paths = await first.evaluate<string[]>(
    "performance.getEntriesByType('resource').map(({ name }) => new URL(name).pathname)",
  );
  await first.close();
  const scripts = readdirSync(assets).filter((file) => file.endsWith('.js'));
  const loaded = scripts.filter((file) => paths.includes(`/assets/${file}`));
  const sum = loaded.reduce((all, file) => all + kilobytes(file), 0);
  report.add('listScriptKb', 'JavaScript of the list, gzip', sum || Number.NaN, 'KB', 120);
  const largest = Math.max(...scripts.filter((file) => !loaded.includes(file)).map(kilobytes));
  report.add('largestLazyKb', 'largest chunk that is loaded later, gzip', largest, 'KB', 90);
}

export function reportPackage(report: Report): void {
  const [packed] = JSON.parse(
    execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
      cwd: root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      maxBuffer: 1e8,
    }),
  ) as { unpackedSize: number }[];
  report.add('unpackedMb', 'the package, unpacked', (packed?.unpackedSize ?? Number.NaN) / 1e6, 'MB', 15);
}

/** What is only in files of the server and the dashboard. */
const marks = ['require-trusted-types-for', '/v1/overview'];

/** What other commands load because there is a dashboard: nothing. */
export function reportLoaded(report: Report): void {
  using project = createTestProject();
  const trace = join(import.meta.dirname, 'trace-loaded.ts');
  for (const command of ['--version', 'status', 'runs']) {
    const args = ['--import', trace, join(root, 'dist/cli.js'), command];
    const options = { cwd: project.root, env: project.env, encoding: 'utf8' } as const;
    const { stderr } = spawnSync(process.execPath, args, options);
    const files = new Set([...stderr.matchAll(/^loaded (.+)$/gm)].map(([, file = '']) => file));
    const texts = [...files].map((file) => readFileSync(file, 'utf8'));
    const server = texts.filter((text) => marks.some((mark) => text.includes(mark)));
    const what = `files of server or dashboard that stepfast ${command} loads`;
    const name = `${command.replace('--', '')}ServerFiles`;
    report.add(name, what, files.size === 0 ? Number.NaN : server.length, '', 0);
  }
}
