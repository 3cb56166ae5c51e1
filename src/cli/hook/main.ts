import { spawn } from 'node:child_process';
import { writeSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { findCommandName, useCommandName } from '../../command-name.ts';
import { hostProcess, runHook } from '../../hooks/index.ts';
import { checkTool, hostNamed, withoutAgentVariables } from '../../hosts/index.ts';
import { readInput } from './stdin.ts';

/** The program of `hook.cjs --host NAME EVENT [wake]`. */
async function main([flag, name, event = '', wakes]: readonly string[]): Promise<number> {
  const host = flag === '--host' ? hostNamed(name) : undefined;
  if (!host) {
    write(2, `stepfast hook: there is no host '${name ?? ''}'\n`);
    return 0;
  }
  // Both are in one folder.
  const program = join(dirname(process.argv[1] ?? ''), 'cli.js');
  useCommandName(() => findCommandName({ main: program, env: process.env }));
  const environment = {
    env: process.env,
    commandEnv: withoutAgentVariables(process.env),
    home: homedir(),
    now: Date.now,
    pid: hostProcess(),
    program,
    checkTool,
  };
  const { stdout, stderr, exitCode, start } = await runHook(host, event, readInput(), environment, {
    wakes: wakes === 'wake',
  });
  if (stdout !== '') write(1, stdout);
  if (stderr !== '') write(2, stderr);
  if (start) startDetached(start);
  return exitCode;
}

/** If it cannot be started, the session stays as it is. */
function startDetached([program = '', ...args]: readonly string[]): void {
  const child = spawn(program, args, { detached: true, stdio: 'ignore' });
  child.on('error', () => undefined);
  child.unref();
}

/** At once and in full, also into a pipe that is read slowly. */
function write(file: number, text: string): void {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(file, bytes, at);
    } catch (error) {
      // The host stopped reading: drop the output.
      if (!(error instanceof Error && 'code' in error && error.code === 'EAGAIN')) return;
    }
  }
}

main(process.argv.slice(2))
  .catch((error: unknown) => {
    write(2, `stepfast hook: ${String(error)}\n`);
    return 0;
  })
  // Everything is written: to take the program apart first costs more than some hooks.
  .then((code) => process.exit(code));
