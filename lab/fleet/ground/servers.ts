import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../../test/kit/free-port.ts';

const cli = join(import.meta.dirname, '..', '..', '..', 'dist', 'cli.js');
const patience = 120_000;

/** `stepfast serve` in its own process, restarted whenever it dies, as by a service manager. */
export interface ServerProcess {
  readonly port: number;
  readonly url: string;
  /** Sends SIGKILL; the server is restarted automatically. */
  kill(): void;
  /** Resident memory now, in bytes; 0 while it is down. */
  memory(): number;
  /** The log so far, of the servers before a restart too. */
  log(): string;
  /** Throws if the server does not respond in time. */
  ready(): Promise<void>;
  stop(): Promise<void>;
}

export interface ServerOptions {
  databaseUrl: string;
  /** Directory for its logs. */
  directory: string;
  args?: readonly string[];
  env?: Readonly<Record<string, string>>;
}

export async function startServer(options: ServerOptions): Promise<ServerProcess> {
  const { databaseUrl, directory, args = [], env = {} } = options;
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const logFile = join(directory, `server-${port}.log`);
  const log = openSync(logFile, 'a');
  let stopping = false;
  let child = start();
  process.on('exit', () => child.kill('SIGKILL'));
  await ready();
  return {
    port,
    url,
    kill: () => child.kill('SIGKILL'),
    memory: () => memoryOf(child.pid),
    log: () => readFileSync(logFile, 'utf8'),
    ready,
    async stop() {
      stopping = true;
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, 'exit');
      child.kill('SIGTERM');
      const late = setTimeout(() => child.kill('SIGKILL'), 20_000);
      await gone;
      clearTimeout(late);
    },
  };

  function start(): ChildProcess {
    const home = { PATH: process.env.PATH, HOME: directory };
    const started = spawn(process.execPath, [cli, 'serve', '--port', String(port), ...args], {
      env: { ...home, STEPFAST_DATABASE_URL: databaseUrl, NODE_ENV: 'production', ...env },
      cwd: directory,
      stdio: ['ignore', log, log],
    });
    started.once('exit', () => {
      const restart = (): void => {
        if (!stopping) child = start();
      };
      setTimeout(restart, 100);
    });
    return started;
  }

  async function ready(): Promise<void> {
    const deadline = performance.now() + patience;
    while (performance.now() < deadline) {
      const answered = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(5_000) }).catch(
        () => undefined,
      );
      await answered?.arrayBuffer();
      if (answered?.ok) return;
      await sleep(100);
    }
    throw new Error(`the server is not ready:\n${readFileSync(logFile, 'utf8').slice(-2000)}`);
  }
}

function memoryOf(pid: number | undefined): number {
  try {
    return Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * 4096;
  } catch {
    // It is down.
    return 0;
  }
}
