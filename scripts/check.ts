/** `npm run check`: every check that must pass before a commit. Stops at the first failure. */
import { spawnSync } from 'node:child_process';

const checks: [name: string, command: string, ...args: string[]][] = [
  ['format and lint', 'biome', 'check', '.'],
  ['types', 'tsc', '-p', '.'],
  ['types of the dashboard', 'tsc', '-p', 'dashboard'],
  ['generated files', 'node', 'scripts/generate.ts', '--check'],
  ['dead code', 'knip'],
  ['unit tests', 'vitest', 'run'],
];

for (const [name, command, ...args] of checks) {
  const started = performance.now();
  const { status } = spawnSync(command, args, { stdio: 'inherit' });
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`${status === 0 ? 'ok' : 'FAILED'}  ${name}  ${seconds} s`);
  if (status !== 0) process.exit(1);
}
