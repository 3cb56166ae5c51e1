import { spawn } from 'node:child_process';
import { hasGroups, signalGroup } from './process-group.ts';

export interface GitResult {
  /** null when it was killed or could not be started. */
  code: number | null;
  stdout: Buffer;
  stderr: string;
  failure?: 'late' | 'missing';
}

/**
 * No hooks, no daemons, no shared index files in the repository, no refusal over line ends. The user's other settings
 * hold, so that a file means what it means to the user's git: a `clean` filter runs for each changed file.
 */
const hardened = [
  'core.fsmonitor=false',
  'core.hooksPath=/dev/null',
  'core.splitIndex=false',
  'core.safecrlf=false',
  'core.looseCompression=0',
  'core.fsync=none',
  'advice.addEmbeddedRepo=false',
  'submodule.recurse=false',
].flatMap((setting) => ['-c', setting]);

/** Never rejects. Past `deadline` (of performance.now()) git and what it started are killed. */
export function git(
  args: readonly string[],
  options: { cwd: string; env: Record<string, string>; deadline?: number; input?: string | Buffer },
): Promise<GitResult> {
  const { cwd, env, deadline = Number.POSITIVE_INFINITY, input } = options;
  const ms = deadline - performance.now();
  if (ms <= 0) return Promise.resolve({ code: null, stdout: Buffer.alloc(0), stderr: '', failure: 'late' });
  return new Promise((resolve) => {
    const child = spawn('git', [...hardened, ...args], {
      cwd,
      env,
      detached: hasGroups,
      windowsHide: true,
      stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    });
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    let failure: GitResult['failure'];
    const done = (code: number | null): void => {
      clearTimeout(timer);
      const text = Buffer.concat(stderr).toString('utf8');
      resolve({ code, stdout: Buffer.concat(stdout), stderr: text, ...(failure ? { failure } : {}) });
    };
    const stop = (): void => {
      failure = 'late';
      if (child.pid !== undefined) signalGroup(child.pid, 'SIGKILL');
      child.stdout?.destroy();
      child.stderr?.destroy();
    };
    const timer = Number.isFinite(ms) ? setTimeout(stop, ms) : undefined;
    child.stdout?.on('data', (chunk: Buffer) => stdout.push(chunk));
    child.stderr?.on('data', (chunk: Buffer) => stderr.push(chunk));
    child.once('error', () => {
      failure = 'missing';
      done(null);
    });
    child.once('close', done);
    // git may stop reading early; its exit code tells
    child.stdin?.on('error', () => {});
    child.stdin?.end(input);
  });
}
