import { spawnSync } from 'node:child_process';
import type { Environment } from '../runtime/index.ts';

interface HookCommand {
  cwd: string;
  env: Environment;
  payload: object;
  timeoutMs: number;
}

/** Runs a hook as a host does, for `doctor`. `problem` is why it could not be run. */
export function runHookCommand(
  command: string,
  { cwd, env, payload, timeoutMs }: HookCommand,
): { status: number | null; stderr: string; problem?: string } {
  const { status, stderr, error } = spawnSync('sh', ['-c', command], {
    ...{ cwd, env: { ...env }, input: JSON.stringify(payload), timeout: timeoutMs },
    encoding: 'utf8',
  });
  // A hook without work ends before it has read what it is sent.
  const isFine = error === undefined || ('code' in error && error.code === 'EPIPE' && status !== null);
  return isFine ? { status, stderr: stderr.trim() } : { status, stderr: '', problem: error.message };
}
