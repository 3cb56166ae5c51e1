import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { build } from 'vite';
import { buildReport } from './report.ts';
import { createStamp } from './stamp.ts';

const cache = 'node_modules/.cache/stepfast';
const built = `${cache}/dashboard`;
const report = `${cache}/report.html`;
const modules = `${cache}/dashboard-modules.json`;

export const dashboardSources = [
  'dashboard/src',
  'dashboard/public',
  'dashboard/index.html',
  'dashboard/vite.config.ts',
];

/**
 * Bundles the dashboard into a folder and the report into `report.html` beside it, unless the last build is current.
 * Returns the bundled modules of both.
 */
export async function buildDashboard(folder: string): Promise<string[]> {
  const stamp = createStamp(
    `${cache}/dashboard-build`,
    [...dashboardSources, 'scripts/build/dashboard.ts', 'scripts/build/report.ts', 'package-lock.json'],
    [built, report, modules],
  );
  if (!stamp.isCurrent()) {
    stamp.remove();
    rmSync(built, { recursive: true, force: true });
    // Tests set it, and React would be the one for development.
    process.env.NODE_ENV = 'production';
    const result = await build({
      root: 'dashboard',
      logLevel: 'warn',
      build: { outDir: `../${built}`, emptyOutDir: true },
    });
    if ('close' in result) throw new Error('vite watches instead of building');
    const chunks = [result].flat().flatMap(({ output }) => output);
    const ids = chunks.flatMap((chunk) => (chunk.type === 'chunk' ? chunk.moduleIds : []));
    const { html, moduleIds } = await buildReport();
    writeFileSync(report, html);
    const all = new Set([...ids, ...moduleIds].map((id) => relative('.', id)));
    writeFileSync(modules, JSON.stringify([...all]));
    stamp.write();
  }
  cpSync(built, folder, { recursive: true });
  cpSync(report, join(folder, '../report.html'));
  return JSON.parse(readFileSync(modules, 'utf8'));
}
