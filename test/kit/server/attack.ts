import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createDatabase } from '../database.ts';
import { type Answered, type CallOptions, call } from './http.ts';
import { becomePerson } from './person.ts';
import { type Cli, createCli } from './serve.ts';

const meter = join(import.meta.dirname, '../loop-meter.ts');

/** What a server spent since it was asked before. */
export interface Measured {
  /** The longest turn of its event loop, in milliseconds of processor time. */
  longestMs: number;
  peakMb: number;
}

/** A real server on a real PostgreSQL, with a hostile project and another. */
export interface Arena extends AsyncDisposable {
  url: string;
  cli: Cli;
  /** All but the bystander's are of the hostile project. */
  tokens: Record<'attacker' | 'reader' | 'admin' | 'person' | 'bystander', string>;
  database: { url: string; query(sql: string): Promise<Record<string, unknown>[]> };
  call(method: string, path: string, options?: CallOptions): Promise<Answered>;
  /** Begins a run of the hostile project. */
  begin(definition: object, inputs?: object): Promise<Answered>;
  measured(): Promise<Measured>;
  metric(name: string): Promise<number>;
  /** A connection that sends a request a number of times and reads nothing. */
  unread(path: string, times?: number): Socket;
  /** Runs it while the other project works; returns how many of its calls failed and the slowest. */
  besides(attack: () => Promise<unknown>): Promise<{ calls: number; failed: number; slowestMs: number }>;
}

export const definitionOf = (steps: object[], more: object = {}): object => ({
  name: 'attack',
  description: 'An attack',
  steps,
  ...more,
});

export async function openArena(...serveArgs: readonly string[]): Promise<Arena> {
  const database = await createDatabase();
  const { cluster, name: base } = database;
  const directory = mkdtempSync(join(tmpdir(), 'stepfast-arena-'));
  const report = join(directory, 'loop.json');
  const cli = createCli({
    HOME: directory,
    STEPFAST_DATABASE_URL: database.url,
    LOOP_METER: report,
    NODE_OPTIONS: `--import ${meter}`,
  });
  for (const project of ['hostile', 'quiet']) await cli.output('project', 'create', project);
  const create = (name: string, project: string, ...more: string[]) =>
    cli.output('token', 'create', name, '--project', project, ...more);
  const made = {
    attacker: await create('attacker', 'hostile'),
    reader: await create('reader', 'hostile', '--scope', 'read'),
    admin: await create('admin', 'hostile', '--scope', 'read,write,admin'),
    bystander: await create('bystander', 'quiet'),
  };
  const server = await cli.serve('--no-jobs', '--log-level', 'error', ...serveArgs);
  const { url } = server;
  const { credential: person } = await becomePerson(url, await create('Ada', 'hostile', '--kind', 'person'));
  // Longer than a test takes.
  const extended = `update stepfast.tokens set expires_at = now() + interval '1 hour' where credential`;
  await cluster.query(base, extended);
  const tokens = { ...made, person };
  const { port } = new URL(url);
  const sockets = new Set<Socket>();
  const ask: Arena['call'] = (...args) => call(url, ...args);

  async function measured(): Promise<Measured> {
    rmSync(report, { force: true });
    server.child.kill('SIGUSR2');
    while (!existsSync(report) || readFileSync(report, 'utf8') === '') await sleep(20);
    return JSON.parse(readFileSync(report, 'utf8'));
  }

  return {
    url,
    cli,
    tokens,
    database: { url: database.url, query: (sql) => cluster.query(base, sql) },
    call: ask,
    begin: (definition, inputs = {}) =>
      ask('POST', '/v1/runs', {
        token: tokens.attacker,
        body: { definition, command: { type: 'start', inputs } },
      }),
    measured,
    async metric(name) {
      const text = await (await fetch(server.metricsUrl)).text();
      const escaped = name.replaceAll(/[{}]/g, '\\$&');
      return Number(new RegExp(`^${escaped} (\\S+)$`, 'm').exec(text)?.[1] ?? 0);
    },
    unread(path, times = 1) {
      const socket = connect(Number(port), '127.0.0.1');
      socket.on('error', () => {});
      sockets.add(socket);
      socket.pause();
      const head = `Host: 127.0.0.1:${port}\r\nAuthorization: Bearer ${tokens.reader}`;
      socket.write(`GET ${path} HTTP/1.1\r\n${head}\r\n\r\n`.repeat(times));
      return socket;
    },
    async besides(attack) {
      const token = tokens.bystander;
      let over = false;
      const attacking = attack().finally(() => {
        over = true;
      });
      const result = { calls: 0, failed: 0, slowestMs: 0 };
      do {
        const began = performance.now();
        const { status, body } = await ask('POST', '/v1/runs', {
          token,
          body: {
            definition: definitionOf([{ id: 'a', type: 'action', instructions: 'Do it.' }]),
            command: { type: 'start' },
          },
        });
        const advanced = await ask('POST', `/v1/runs/${body?.run}/commands`, {
          token,
          body: { command: { type: 'advance', output: 'Done.' } },
        });
        result.slowestMs = Math.max(result.slowestMs, Math.round(performance.now() - began));
        result.calls += 2;
        for (const each of [status, advanced.status]) if (each !== 200) result.failed += 1;
        await sleep(250);
      } while (!over);
      await attacking;
      return result;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await cli.dispose();
      await database[Symbol.asyncDispose]();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
