import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { HostStage } from './host-stage.ts';

/**
 * Puts a program before the hook that hosts start. `code` is a body of JavaScript with the hook's `event`, its `input`
 * and the `output` that it is about to print, and returns what is printed.
 */
export function aroundHook({ env }: HostStage, code: string): void {
  const dist = join(env.XDG_STATE_HOME ?? '', 'stepfast', 'plugin', 'current', 'dist');
  renameSync(join(dist, 'hook.cjs'), join(dist, 'hook-itself.cjs'));
  writeFileSync(
    join(dist, 'hook.cjs'),
    `const fs = require('node:fs');
const { spawnSync } = require('node:child_process');
const input = String(fs.readFileSync(0));
const [, , , , event] = process.argv;
const itself = require('node:path').join(__dirname, 'hook-itself.cjs');
const { stdout, stderr, status } = spawnSync(process.execPath, [itself, ...process.argv.slice(2)], { input, encoding: 'utf8' });
process.stdout.write((({ event, input, output }) => { ${code} })({ event, input, output: stdout }));
process.stderr.write(stderr);
process.exitCode = status ?? 0;
`,
  );
}

/** The first output with this text never reaches the host. */
export const loseOutput = (stage: HostStage, text: string): void =>
  aroundHook(
    stage,
    `if (!output.includes(${JSON.stringify(text)})) return output;
  try { fs.mkdirSync(${JSON.stringify(join(stage.env.HOME ?? '', 'lost'))}); return ''; } catch { return output; }`,
  );
