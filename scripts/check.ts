/**
 * `npm run check`: everything that must pass before a commit. The checks run side by side and all report, even if one
 * fails. Tests that start processes run in CI, except those of the layout.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

process.chdir(join(import.meta.dirname, '..'));
const cache = 'node_modules/.cache/stepfast';
mkdirSync(cache, { recursive: true });

const incremental = (name: string): string[] => [
  '--incremental',
  '--tsBuildInfoFile',
  `${cache}/${name}.tsbuildinfo`,
];

const checks: [name: string, command: string, ...args: string[]][] = [
  // The longest first.
  ['unit tests', 'vitest', 'run', '--project', 'unit', '--project', 'layout', '--reporter', 'dot'],
  ['types', 'tsc', '-p', '.', ...incremental('types')],
  ['format and lint', 'biome', 'check', '--error-on-warnings', '.'],
  ['dashboard types', 'tsc', '-p', 'dashboard', ...incremental('dashboard-types')],
  ['dead code', 'knip'],
  ['generated files', 'node', 'scripts/generate.ts', '--check'],
];

const queue = [...checks];
const started = performance.now();
let failed = 0;
// The tests have two workers of their own; what is left is single programs, one after the other.
await Promise.all([work(), work()]);
console.log(`${failed === 0 ? 'ok' : 'FAILED'}  check  ${secondsSince(started)} s`);
if (failed > 0) process.exitCode = 1;

async function work(): Promise<void> {
  for (let check = queue.shift(); check !== undefined; check = queue.shift()) {
    const [name, command, ...args] = check;
    const began = performance.now();
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    const output: Buffer[] = [];
    child.stdout.on('data', (data) => output.push(data));
    child.stderr.on('data', (data) => output.push(data));
    const [status] = await once(child, 'close');
    if (status !== 0) {
      failed += 1;
      process.stdout.write(Buffer.concat(output));
    }
    console.log(`${status === 0 ? 'ok' : 'FAILED'}  ${name}  ${secondsSince(began)} s`);
  }
}

function secondsSince(time: number): string {
  return ((performance.now() - time) / 1000).toFixed(1);
}
