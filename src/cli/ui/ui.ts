import { basename } from 'node:path';
import type { Engine } from '../../engine/index.ts';
import { createLocalPages, type LocalRuntime } from '../../runtime/index.ts';
import { readArgs } from '../args.ts';
import { person, whyNotAPerson } from '../caller.ts';
import { exit, usageError } from '../exit.ts';
import type { Io } from '../io.ts';
import { openRuntime, projectOptions } from '../run-options.ts';
import { listenError } from '../serve/listen-error.ts';
import { dashboardFiles } from './dashboard-files.ts';
import { openBrowser } from './open-browser.ts';

const { json: _, ...shared } = projectOptions;
export const options = {
  ...shared,
  port: { type: 'string' },
  'no-open': { type: 'boolean' },
} as const;

const host = '127.0.0.1';

/** Serves the dashboard of this project to browsers on this machine, until Ctrl-C. */
export async function run(args: readonly string[], io: Io): Promise<number> {
  const { values } = readArgs(args, options, { max: 0 });
  const port = portIn(values.port);
  const runtime = openRuntime(io, values, { unasked: true });
  const server = await import('../../server/index.ts');
  const reader = whyNotAPerson(io);
  const links = server.createOneTimeLinks();
  const hosts = { hosts: new Set<string>(), origins: new Set<string>() };
  const name = person(io).actor?.name ?? '';
  let origin = '';
  const app = server.createUiApp({
    pages: createLocalPages(runtime),
    engine: decidingEngine(runtime),
    principal: {
      id: server.localId,
      project: { id: 0, name: basename(runtime.project.root) },
      kind: reader === undefined ? 'person' : 'agent',
      name,
      scopes: reader === undefined ? ['read', 'write', 'decide'] : ['read'],
    },
    links,
    hosts,
    asset: dashboardFiles(),
    origin: () => origin,
    clock: io.now,
    onError: (error) => io.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`),
  });
  const listening = await server
    .listen(app, { host, port, limits: server.defaultLimits })
    .catch((error: unknown) => {
      throw listenError(error, { host, port });
    });
  origin = `http://${host}:${listening.port}`;
  hosts.hosts.add(`${host}:${listening.port}`);
  hosts.origins.add(origin);
  const newLink = (): string => `${origin}/open?token=${links.create()}`;
  const link = newLink();
  io.stdout.write(`${link}\n`);
  const opened = !values['no-open'] && reader === undefined && openBrowser(link, io.env);
  io.stderr.write(`${opened ? 'Opened in your browser.' : 'Open this link in a browser.'} It works once.\n`);
  if (reader !== undefined) io.stderr.write(`The pages only read, because ${reader}.\n`);
  const stopped = new Promise<void>((resolve) => {
    const release = io.onInterrupt(() => {
      release();
      resolve();
    });
    process.once('SIGTERM', () => resolve());
  });
  if (reader === undefined) {
    io.stderr.write('Enter: a link for another browser. Ctrl-C: stop.\n');
    void printLinks();
  }
  await stopped;
  await listening.close();
  return exit.ok;

  async function printLinks(): Promise<void> {
    while ((await io.stdin.line()) !== undefined) io.stdout.write(`${newLink()}\n`);
  }
}

function portIn(text = '0'): number {
  const port = Number(text);
  if (text.trim() !== '' && Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw usageError('--port must be a number from 0 to 65535.');
}

/** Decisions have the same effects as those of the command line: gates start, task lists are read. */
function decidingEngine(runtime: LocalRuntime): Engine {
  return {
    ...runtime.engine,
    async execute(run, { now: _now, actor, session, tree: _tree, ...command }, key) {
      const identity = { ...(actor ? { actor } : {}), ...(session === undefined ? {} : { session }) };
      const { reply } = await runtime.call(command as Request, identity, { run, key, waitMs: 0 });
      return { run, reply: reply as never, effects: [], changed: true, interrupted: false, due: [] };
    },
  };
}

type Request = Parameters<LocalRuntime['call']>[0];
