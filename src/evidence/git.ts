import { spawn } from 'node:child_process';
import { hasGroups, signalGroup } from './process-group.ts';

export interface GitResult {
  /** null if git was killed or could not be started. */
  code: number | null;
  stdout: Buffer;
  stderr: string;
  /** `long`: the output exceeded `maxBytes`. */
  failure?: 'late' | 'long' | 'missing' | undefined;
}

export interface GitOptions {
  cwd: string;
  env: Record<string, string>;
  /** In terms of performance.now(); then git and its children are killed. */
  deadline?: number;
  input?: string | Uint8Array | undefined;
  /** Limit of stdout. */
  maxBytes?: number;
  /** `key=value` pairs that replace the defaults. */
  settings?: readonly string[];
}

/**
 * No hooks, daemons, shared index files or errors about line endings. The user's other settings stay in effect, so that
 * files are read as the user's git reads them: a `clean` filter runs for each changed file.
 */
const defaultSettings = [
  'core.fsmonitor=false',
  'core.hooksPath=/dev/null',
  'core.splitIndex=false',
  'core.safecrlf=false',
  'core.looseCompression=0',
  'core.fsync=none',
  'advice.addEmbeddedRepo=false',
  'submodule.recurse=false',
];
const maxStderrBytes = 1024 * 1024;

/** Never rejects. Runs in its own session, so that no child can prompt on the terminal. */
export function git(args: readonly string[], options: GitOptions): Promise<GitResult> {
  const { cwd, env, deadline = Infinity, input, maxBytes = Infinity, settings = defaultSettings } = options;
  const ms = deadline - performance.now();
  if (ms <= 0) return Promise.resolve({ code: null, stdout: Buffer.alloc(0), stderr: '', failure: 'late' });
  return new Promise((resolve) => {
    const child = spawn('git', [...settings.flatMap((setting) => ['-c', setting]), ...args], {
      cwd,
      env,
      detached: hasGroups,
      windowsHide: true,
      stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    });
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    const bytes = { stdout: 0, stderr: 0 };
    let failure: GitResult['failure'];
    const done = (code: number | null): void => {
      clearTimeout(timer);
      const text = Buffer.concat(stderr).toString('utf8');
      resolve({ code, stdout: Buffer.concat(stdout), stderr: text, failure });
    };
    const stop = (why: 'late' | 'long'): void => {
      failure ??= why;
      if (child.pid !== undefined) signalGroup(child.pid, 'SIGKILL');
      child.stdout?.destroy();
      child.stderr?.destroy();
    };
    const timer = Number.isFinite(ms) ? setTimeout(() => stop('late'), ms) : undefined;
    child.stdout?.on('data', (chunk: Buffer) => {
      bytes.stdout += chunk.length;
      if (bytes.stdout > maxBytes) stop('long');
      else stdout.push(chunk);
    });
    child.stderr?.on('data', (chunk: Buffer) => {
      bytes.stderr += chunk.length;
      if (bytes.stderr <= maxStderrBytes) stderr.push(chunk);
    });
    child.once('error', () => {
      failure = 'missing';
      done(null);
    });
    child.once('close', done);
    // Git may stop reading early; its exit code reports errors.
    child.stdin?.on('error', () => {});
    child.stdin?.end(input);
  });
}
