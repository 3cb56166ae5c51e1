import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { withoutDrivenMark } from './leftover-processes.ts';

/**
 * Starts a process that outlives its caller, in a session of its own. A host may end all descendants of its MCP servers
 * when it ends, so a shell starts the process and exits at once: then it descends from neither. Windows has no such way.
 */
export function startApart(
  program: string,
  args: readonly string[],
  { env = process.env, ...options }: Pick<SpawnOptions, 'cwd' | 'env' | 'stdio'>,
): ChildProcess {
  const own = process.platform === 'win32';
  const child = spawn(own ? program : '/bin/sh', own ? args : ['-c', '"$@" &', 'sh', program, ...args], {
    stdio: 'ignore',
    ...options,
    env: withoutDrivenMark(env),
    detached: true,
    windowsHide: true,
  });
  child.unref();
  return child;
}
