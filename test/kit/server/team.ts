import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Cluster } from '../postgres.ts';
import { type Answered, call, readEvents, type SseEvent } from './http.ts';
import { type Receiver, startReceiver } from './jobs.ts';
import { type Cli, createCli, type Served } from './serve.ts';

/** An empty database whose owner is no superuser. */
export async function ownedDatabase(
  cluster: Cluster,
  name: string,
  rights = 'createrole',
): Promise<{ name: string; url: string }> {
  await cluster.query('postgres', `create role ${name} login nosuperuser ${rights}`);
  await cluster.createDatabase(name);
  await cluster.query('postgres', `alter database ${name} owner to ${name}`);
  return { name, url: cluster.url(name, name) };
}

/** The built program with a home of its own. */
export function cliOf(databaseUrl: string): Cli & Disposable {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'stepfast-owner-')));
  mkdirSync(join(home, 'state'));
  const cli = createCli({
    HOME: home,
    XDG_STATE_HOME: join(home, 'state'),
    STEPFAST_DATABASE_URL: databaseUrl,
  });
  return {
    ...cli,
    [Symbol.dispose]() {
      void cli.dispose();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

/** A server with a project, a token and a webhook. */
export interface Team extends AsyncDisposable {
  server: Served;
  receiver: Receiver;
  call(method: string, path: string, body?: object): Promise<Answered>;
  /** Starts a run of one step. */
  begin(): Promise<{ run: string; at: string }>;
  advance(run: string, at: string, key?: string): Promise<Answered>;
  /** A run from start to end, which a stream and a webhook tell. */
  completesRun(): Promise<void>;
}

const definition = {
  name: 'single',
  description: 'One step',
  steps: [{ id: 'a', type: 'action', instructions: 'x' }],
};

/** From an empty database on, as docs/server.md has it. */
export async function startTeam(databaseUrl: string, ...options: string[]): Promise<Team> {
  const cli = cliOf(databaseUrl);
  const receiver = await startReceiver();
  try {
    await cli.output('migrate');
    await cli.output('project', 'create', 'shop');
    const token = await cli.output('token', 'create', 'ci', '--project', 'shop');
    const allowed = ['--allow-http', '--allow-private'];
    await cli.output('webhook', 'add', receiver.url, '--project', 'shop', ...allowed);
    const server = await cli.serve('--webhooks-allow-http', '--webhooks-allow-private', ...options);
    const ask: Team['call'] = (method, path, body) =>
      call(server.url, method, path, { token, ...(body ? { body } : {}) });
    const begin: Team['begin'] = async () => {
      const begun = await ask('POST', '/v1/runs', { definition, command: { type: 'start' } });
      expect(begun.status, begun.text).toBe(200);
      return { run: begun.body.run, at: begun.body.reply.at };
    };
    const advance: Team['advance'] = (run, at, key) =>
      ask('POST', `/v1/runs/${run}/commands`, {
        command: { type: 'advance', at, output: 'done' },
        ...(key === undefined ? {} : { key }),
      });
    return {
      server,
      receiver,
      call: ask,
      begin,
      advance,
      async completesRun() {
        let run = '';
        const told = await followEvents(
          server.url,
          token,
          (events) => seqsOf(events, run).length === 2,
          async () => {
            const begun = await begin();
            run = begun.run;
            expect((await advance(run, begun.at)).body).toMatchObject({ reply: { status: 'complete' } });
          },
        );
        expect(seqsOf(told, run)).toEqual([1, 2]);
        const events = () =>
          receiver.got.flatMap(({ told: { data } }) => (data.run === run ? data.events : []));
        await expect.poll(events).toContain('run.completed');
      },
      async [Symbol.asyncDispose]() {
        await server.stop();
        cli[Symbol.dispose]();
        await receiver.close();
      },
    };
  } catch (error) {
    cli[Symbol.dispose]();
    await receiver.close();
    throw error;
  }
}

const seqsOf = (events: readonly SseEvent[], run: string): number[] =>
  events.flatMap(({ event, data }) => (event === 'batch' && data.run === run ? [data.seq] : []));

/** Reconnects like a browser when the server ends the stream. */
async function followEvents(
  url: string,
  token: string,
  enough: (events: SseEvent[]) => boolean,
  onceOpen: () => Promise<void>,
): Promise<SseEvent[]> {
  const told: SseEvent[] = [];
  let opened: Promise<void> | undefined;
  const onOpen = (): void => {
    opened ??= onceOpen();
  };
  while (!enough(told)) {
    const last = told.findLast(({ id }) => id !== undefined)?.id;
    const headers: Record<string, string> = last === undefined ? {} : { 'Last-Event-ID': last };
    told.push(
      ...(await readEvents(url, token, (events) => enough([...told, ...events]), { headers, onOpen })),
    );
  }
  await opened;
  return told;
}
