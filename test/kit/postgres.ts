import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  accessSync,
  chownSync,
  closeSync,
  constants,
  cpSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { freePort } from './free-port.ts';
import { temporary } from './temporary.ts';

const run = promisify(execFile);
const patience = 120_000;

export interface ClusterPlace {
  /** The directory of initdb, pg_dump and pgbench. */
  readonly bin: string;
  readonly port: number;
  /** The account of its programs if the tests run as root, which PostgreSQL refuses. */
  readonly account: { uid?: number; gid?: number };
  /** The directory with `data`, `log` and the socket. */
  readonly directory: string;
}

/** A PostgreSQL on loopback that others use too. */
export interface SharedCluster extends ClusterPlace {
  /** The default `user` is a superuser; no password is needed. */
  url(database: string, user?: string): string;
  /** Creates an empty database, or a copy of `template`, which must have no connections; returns the URL. */
  createDatabase(name: string, template?: string, owner?: string): Promise<string>;
  dropDatabase(name: string): Promise<void>;
  /** Queries as the superuser. */
  query<R extends pg.QueryResultRow>(database: string, sql: string, values?: unknown[]): Promise<R[]>;
}

/** A private one, removed when the process ends or `dispose` is called. */
export interface Cluster extends SharedCluster {
  start(): Promise<void>;
  /** `immediate` is a crash that recovers at the next start. */
  stop(mode?: 'fast' | 'immediate'): Promise<void>;
  /** SIGKILL of the postmaster alone. */
  kill(): Promise<void>;
  dispose(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface ClusterOptions {
  /** false is faster, for tests without power cuts. */
  fsync?: boolean;
  /** Lines of postgresql.conf. */
  settings?: Readonly<Record<string, string | number>>;
  /** The directory of initdb and postgres; the newest installed version by default. */
  bin?: string;
  /** Replicates this cluster and is read-only until it is promoted; needs pg_basebackup. */
  standbyOf?: Cluster;
  /** The parent directory; by default memory if available, else the system's temporary directory. */
  parent?: string;
}

/** A cluster that runs already. Its port may change. */
export function clusterAt(place: ClusterPlace): SharedCluster {
  const url: SharedCluster['url'] = (database, user = 'postgres') =>
    `postgres://${encodeURIComponent(user)}@127.0.0.1:${place.port}/${encodeURIComponent(database)}`;
  const query: SharedCluster['query'] = async <R extends pg.QueryResultRow>(
    database: string,
    sql: string,
    values?: unknown[],
  ) => {
    const client = new pg.Client({ connectionString: url(database) });
    await client.connect();
    try {
      return (await client.query<R>(sql, values)).rows;
    } finally {
      await client.end();
    }
  };
  return {
    bin: place.bin,
    get port() {
      return place.port;
    },
    account: place.account,
    directory: place.directory,
    url,
    query,
    async createDatabase(name, template = 'template0', owner = 'postgres') {
      const made = `create database ${quoted(name)} template ${quoted(template)} owner ${quoted(owner)}`;
      await query('postgres', made);
      return url(name);
    },
    async dropDatabase(name) {
      await query('postgres', `drop database if exists ${quoted(name)} with (force)`);
    },
  };
}

export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  const account = unprivileged();
  const withParent = endsWithParent();
  const directory = mkdtempSync(join(options.parent ?? temporary().TMPDIR ?? tmpdir(), 'stepfast-pg-'));
  if (account.uid !== undefined && account.gid !== undefined) chownSync(directory, account.uid, account.gid);
  const bin = reachable(options.bin ?? findBinaries(), account, directory);
  const data = join(directory, 'data');
  const settings = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: directory,
    fsync: options.fsync === false ? 'off' : 'on',
    max_connections: 200,
    shared_buffers: '128MB',
    log_min_messages: 'warning',
    ...options.settings,
  };
  let port = await freePort();
  let postmaster: ChildProcess | undefined;
  const mustEnd = (): void => {
    postmaster?.kill('SIGQUIT');
    rmSync(directory, { recursive: true, force: true });
  };
  process.on('exit', mustEnd);

  try {
    const args = ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'];
    const copied = ['-D', data, '-d', options.standbyOf?.url('') ?? '', '-R', '-c', 'fast'];
    if (options.standbyOf) await run(join(bin, 'pg_basebackup'), copied, { ...account, cwd: directory });
    else await run(join(bin, 'initdb'), [...args, '--no-instructions'], { ...account, cwd: directory });
    await start();
  } catch (error) {
    await dispose();
    throw error;
  }
  const place: ClusterPlace = {
    bin,
    get port() {
      return port;
    },
    account,
    directory,
  };
  return Object.assign(clusterAt(place), {
    start,
    stop: (mode = 'fast') => end(mode === 'fast' ? 'SIGINT' : 'SIGQUIT'),
    kill: () => end('SIGKILL'),
    dispose,
    [Symbol.asyncDispose]: dispose,
  });

  async function start(): Promise<void> {
    if (postmaster) return;
    const deadline = Date.now() + patience;
    for (let first = true; ; first = false) {
      if (await startOnce(deadline)) return;
      if (Date.now() > deadline) throw new Error(`PostgreSQL does not start:\n${logTail()}`);
      // Either another program took the port, or backends of a killed postmaster still hold its memory.
      if (!first && logTail().includes('Address already in use')) port = await freePort();
      await sleep(100);
    }
  }

  async function startOnce(deadline: number): Promise<boolean> {
    const log = openSync(join(directory, 'log'), 'a');
    const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const [program = '', ...guard] = [...withParent, join(bin, 'postgres')];
    const started = spawn(program, [...guard, '-D', data, '-p', String(port), ...args], {
      ...account,
      cwd: directory,
      stdio: ['ignore', log, log],
    });
    closeSync(log);
    await once(started, 'spawn');
    // It ends with this process and doesn't keep it alive.
    started.unref();
    postmaster = started;
    while (Date.now() < deadline) {
      if (hasEnded(started)) break;
      if (isReady(started.pid)) return true;
      await sleep(20);
    }
    if (!hasEnded(started)) await end('SIGQUIT');
    postmaster = undefined;
    return false;
  }

  /** The postmaster writes its state as the eighth line of its pid file. */
  function isReady(pid: number | undefined): boolean {
    try {
      const lines = readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n');
      return lines[0] === String(pid) && lines[7]?.trim() === 'ready';
    } catch {
      return false;
    }
  }

  async function end(signal: NodeJS.Signals): Promise<void> {
    const ending = postmaster;
    postmaster = undefined;
    if (!ending || hasEnded(ending)) return;
    const exit = once(ending, 'exit');
    ending.ref();
    ending.kill(signal);
    await exit;
  }

  async function dispose(): Promise<void> {
    await end('SIGQUIT');
    process.off('exit', mustEnd);
    rmSync(directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }

  function logTail(): string {
    try {
      return readFileSync(join(directory, 'log'), 'utf8').split('\n').slice(-20).join('\n');
    } catch {
      return '';
    }
  }
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean =>
  exitCode !== null || signalCode !== null;

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

function findBinaries(): string {
  const versions = '/usr/lib/postgresql';
  const debian = entries(versions)
    .sort((a, b) => Number(b) - Number(a))
    .map((version) => join(versions, version, 'bin'));
  const found = [...debian, ...configured(), ...pathFolders()].find(
    (folder) => isProgram(join(folder, 'initdb')) && isProgram(join(folder, 'postgres')),
  );
  if (found === undefined)
    throw new Error('PostgreSQL is not installed: its server programs are in no known folder');
  return found;
}

/** A copy in `directory` if the account cannot access the original, as in another user's home. */
function reachable(bin: string, account: Cluster['account'], directory: string): string {
  try {
    execFileSync(join(bin, 'postgres'), ['--version'], { ...account, cwd: directory, stdio: 'ignore' });
    return bin;
  } catch {
    const copy = join(directory, 'program');
    const isNeeded = (path: string): boolean => !path.endsWith('.a');
    cpSync(dirname(bin), copy, { recursive: true, verbatimSymlinks: true, filter: isNeeded });
    return join(copy, basename(bin));
  }
}

const pathFolders = (): string[] => (process.env.PATH ?? '').split(':').filter(Boolean);

function configured(): string[] {
  try {
    return [execFileSync('pg_config', ['--bindir'], { encoding: 'utf8', stdio: 'pipe' }).trim()];
  } catch {
    return [];
  }
}

function entries(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** A command prefix that ends a program with this process; empty if the system has none. */
function endsWithParent(): string[] {
  const guard = ['setpriv', '--pdeathsig', 'QUIT'];
  try {
    execFileSync('setpriv', [...guard.slice(1), 'true'], { stdio: 'ignore' });
    return guard;
  } catch {
    return [];
  }
}

function unprivileged(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const id = (option: string, user: string): number =>
    Number(execFileSync('id', [option, user], { encoding: 'utf8', stdio: 'pipe' }));
  for (const user of ['postgres', 'nobody']) {
    try {
      return { uid: id('-u', user), gid: id('-g', user) };
    } catch {
      // The next one.
    }
  }
  throw new Error('PostgreSQL refuses to run as root, and there is no other user here');
}
