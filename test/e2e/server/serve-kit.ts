import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

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
  dispose(): void;
}

/** The built program with an environment of its own, which has STEPFAST_DATABASE_URL. */
export function createCli(own: NodeJS.ProcessEnv): Cli {
  const env = { PATH: process.env.PATH, ...own };
  const started = new Set<ChildProcess>();
  const run: Cli['run'] = (args, more = {}) =>
    new Promise((resolve) => {
      const merged = { env: { ...env, ...more } };
      const child = execFile(process.execPath, [entry, ...args], merged, (error, stdout, stderr) => {
        resolve({ code: error ? Number(error.code) : 0, stdout, stderr });
      });
      // Nobody answers a question.
      child.stdin?.end();
    });
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
    dispose() {
      for (const child of started) child.kill('SIGKILL');
    },
  };
}
