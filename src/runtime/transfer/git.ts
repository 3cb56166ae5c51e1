import { spawn } from 'node:child_process';
import { StepfastError } from '../../errors.ts';
import { gitEnvironment } from '../../evidence/index.ts';

export interface GitDone {
  /** null when it was killed. */
  code: number | null;
  stdout: Buffer;
  stderr: string;
  failure?: 'late' | 'long';
}

interface GitOptions {
  input?: string | Uint8Array;
  /** Of its output; more is a failure. */
  maxBytes?: number;
  timeoutMs?: number;
  env?: Record<string, string>;
}

/** Rejects only with `no_git`. */
export type Git = (args: readonly string[], options?: GitOptions) => Promise<GitDone>;

/** What says how a remote is reached, and nothing that turns git to another repository. */
const passed =
  /^GIT_(?:SSH|SSH_COMMAND|SSH_VARIANT|ASKPASS|SSL_[A-Z_]+|PROXY_[A-Z_]+|HTTP_[A-Z_]+|ALLOW_PROTOCOL)$/;

/** No hooks, no daemons, no questions; what comes in is looked at by git too. */
const hardened = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'fetch.fsckObjects=true',
  'fetch.writeCommitGraph=false',
  'gc.auto=0',
  'maintenance.auto=false',
  'push.gpgSign=false',
  'submodule.recurse=false',
].flatMap((setting) => ['-c', setting]);

const defaultMs = 60_000;
const defaultBytes = 16 * 1024 * 1024;

export function createGit(cwd: string, base: Readonly<Record<string, string | undefined>>): Git {
  const how = Object.entries(base).flatMap(([name, value]): [string, string][] =>
    value !== undefined && passed.test(name) ? [[name, value]] : [],
  );
  const common = gitEnvironment(base, { ...Object.fromEntries(how), SSH_ASKPASS_REQUIRE: 'never' });
  return (args, { input, maxBytes = defaultBytes, timeoutMs = defaultMs, env = {} } = {}) =>
    new Promise((resolve, reject) => {
      const posix = process.platform !== 'win32';
      const child = spawn('git', [...hardened, ...args], {
        cwd,
        env: { ...common, ...env },
        // A session of its own has no terminal that ssh could ask at.
        detached: posix,
        windowsHide: true,
        stdio: ['pipe', 'pipe', 'pipe'],
      });
      const stdout: Buffer[] = [];
      let bytes = 0;
      let stderr = '';
      let failure: GitDone['failure'];
      const stop = (why: NonNullable<GitDone['failure']>): void => {
        failure ??= why;
        end(child.pid, posix);
        child.stdout.destroy();
        child.stderr.destroy();
      };
      const timer = setTimeout(() => stop('late'), timeoutMs);
      child.stdout.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > maxBytes) stop('long');
        else stdout.push(chunk);
      });
      child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
        if (stderr.length < defaultBytes) stderr += chunk;
      });
      child.once('error', (cause) => {
        clearTimeout(timer);
        const message = 'git cannot be started, and runs travel over git: install it, or use stepfast export';
        reject(new StepfastError('no_git', message, { cause }));
      });
      child.once('close', (code) => {
        clearTimeout(timer);
        resolve({ code, stdout: Buffer.concat(stdout), stderr, ...(failure ? { failure } : {}) });
      });
      // git may stop reading early; its exit code tells
      child.stdin.on('error', () => {});
      child.stdin.end(input);
    });
}

function end(pid: number | undefined, group: boolean): void {
  if (pid === undefined) return;
  try {
    process.kill(group ? -pid : pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}
