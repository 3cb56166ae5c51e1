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
  readonly pid: number | undefined;
  /** Number of restarts. */
  readonly restarts: number;
  /** Sends SIGKILL; the server is restarted automatically. */
  kill(): void;
  /** Resident memory now, in bytes; 0 while it is down. */
  memory(): number;
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
  /** Module to preload with `node --import`. */
  preload?: string;
}

export async function startServer(options: ServerOptions): Promise<ServerProcess> {
  const { databaseUrl, directory, args = [], env = {}, preload } = options;
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const logFile = join(directory, `server-${port}.log`);
  const log = openSync(logFile, 'a');
  let child: ChildProcess | undefined;
  let stopping = false;
  let starts = 0;
  start();
  const server: ServerProcess = {
    port,
    url,
    get pid() {
      return child?.pid;
    },
    get restarts() {
      return starts - 1;
    },
    kill: () => child?.kill('SIGKILL'),
    memory: () => memoryOf(child?.pid),
    ready,
    stop,
  };
  process.on('exit', () => child?.kill('SIGKILL'));
  await ready();
  return server;

  function start(): void {
    starts += 1;
    const imports = preload === undefined ? [] : ['--import', preload];
    const started = spawn(process.execPath, [...imports, cli, 'serve', '--port', String(port), ...args], {
      env: {
        PATH: process.env.PATH,
        HOME: directory,
        STEPFAST_DATABASE_URL: databaseUrl,
        NODE_ENV: 'production',
        ...env,
      },
      cwd: directory,
      stdio: ['ignore', log, log],
    });
    child = started;
    started.once('exit', () => {
      if (child === started) child = undefined;
      if (!stopping) setTimeout(() => stopping || start(), 100);
    });
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

  async function stop(): Promise<void> {
    stopping = true;
    const ending = child;
    if (!ending || ending.exitCode !== null || ending.signalCode !== null) return;
    const gone = once(ending, 'exit');
    ending.kill('SIGTERM');
    const late = setTimeout(() => ending.kill('SIGKILL'), 20_000);
    await gone;
    clearTimeout(late);
  }
}

function memoryOf(pid: number | undefined): number {
  if (pid === undefined) return 0;
  try {
    const pages = Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]);
    return pages * 4096;
  } catch {
    // The process died during the query.
    return 0;
  }
}
