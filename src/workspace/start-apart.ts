import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { withoutDrivenMark } from './leftover-processes.ts';

/**
 * Starts a process that outlives its caller, in a session of its own. A host may end all descendants of its MCP servers
 * when it ends, so a shell starts the process and exits at once: then it descends from neither of
 * them. Not on Windows.
 */
export function startApart(
  program: string,
  args: readonly string[],
  { env = process.env, ...options }: Pick<SpawnOptions, 'cwd' | 'env' | 'stdio'>,
): ChildProcess {
  const [file, words] =
    process.platform === 'win32' ? [program, args] : ['/bin/sh', ['-c', '"$@" &', 'sh', program, ...args]];
  const child = spawn(file, words, {
    stdio: 'ignore',
    ...options,
    env: withoutDrivenMark(env),
    detached: true,
    windowsHide: true,
  });
  child.unref();
  return child;
}
