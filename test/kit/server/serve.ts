import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { run as runCommand } from '../../../src/cli/index.ts';
import { createFakeIo } from '../../../src/testing/fake-io.ts';

const entry = join(import.meta.dirname, '..', '..', '..', 'dist', 'cli.js');

export interface Ran {
  code: number;
  stdout: string;
  stderr: string;
}

/** A real `stepfast serve`. */
export interface Served {
  url: string;
  /** Of its metrics, where it has any. */
  readonly metricsUrl: string;
  child: ChildProcess;
  /** Lines of the log so far. */
  log(): string;
  stderr(): string;
  /** The exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

export interface Cli {
  run(args: readonly string[], own?: NodeJS.ProcessEnv): Promise<Ran>;
  /** Standard output of a command that must succeed, without the line break at its end. */
  output(...args: string[]): Promise<string>;
  serve(...args: string[]): Promise<Served>;
  /** Kills the servers that are still there. */
  dispose(): Promise<void>;
}

/**
 * Commands with an environment of their own, which has STEPFAST_DATABASE_URL. Servers are the built program, each in a
 * process of its own; commands that end run in this one.
 */
export function createCli(own: NodeJS.ProcessEnv): Cli {
  const env: NodeJS.ProcessEnv = { PATH: process.env.PATH, ...own };
  const started = new Set<ChildProcess>();
  const run: Cli['run'] = async (args, more = {}) => {
    const merged = { ...env, ...more };
    const home = merged.HOME ?? '/nowhere';
    const { io, stdout, stderr } = createFakeIo({ env: merged, cwd: process.cwd(), home });
    const code = await runCommand(args, io);
    return { code, stdout: stdout(), stderr: stderr() };
  };
  return {
    run,
    async output(...args) {
      const { code, stdout, stderr } = await run(args);
      if (code !== 0) throw new Error(`stepfast ${args.join(' ')} exited with ${code}: ${stderr}`);
      return stdout.trim();
    },
    async serve(...args) {
      const child = spawn(process.execPath, [entry, 'serve', '--port', '0', '--metrics-port', '0', ...args], {
        env,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      started.add(child);
      let [stdout, stderr] = ['', ''];
      child.stdout?.on('data', (chunk) => {
        stdout += chunk;
      });
      const url = await new Promise<string>((resolve, reject) => {
        child.stderr?.on('data', (chunk) => {
          stderr += chunk;
          const found = /http:\S+/.exec(stderr)?.[0];
          if (found) resolve(found);
        });
        child.once('exit', () => reject(new Error(stderr)));
      });
      return {
        url,
        get metricsUrl() {
          return /Metrics on (\S+)/.exec(stderr)?.[1] ?? '';
        },
        child,
        log: () => stdout,
        stderr: () => stderr,
        async stop(signal = 'SIGTERM') {
          const exit = once(child, 'exit');
          child.kill(signal);
          const [code] = await exit;
          started.delete(child);
          return code;
        },
      };
    },
    async dispose() {
      for (const child of started) {
        const exit = child.exitCode === null && child.signalCode === null && once(child, 'exit');
        child.kill('SIGKILL');
        await exit;
      }
    },
  };
}
