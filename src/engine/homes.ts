import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { commandName } from '../command-name.ts';
import { StepfastError } from '../errors.ts';
import { ended, suffixOf } from '../machine/index.ts';
import { isRunId, type Loaded, type RunInfo } from '../store/index.ts';
import type { Engine, Executed } from './engine.ts';
import { createKnownRuns } from './known-runs.ts';
import { onceFor } from './remote/remote-engine.ts';

interface HomeOptions {
  /** The files of this project directory. */
  local: Engine;
  server: Engine & { readonly url: string };
  /** The project's `.stepfast`. */
  directory: string;
  /** Checks the target folder before a write. */
  guard(): void;
  /** Called when work on a live server run begins here. Must not throw. */
  onKnown(run: Loaded): void;
}

const mostAtOnce = 8;

/** Local files and the server, as one engine. */
export interface HomedEngine extends Engine {
  serverOf(run: string): string | undefined;
  know(run: Loaded): void;
}

/**
 * The only place that decides where a run lives:
 *
 * - A run begins on the server if one is configured, and stays there. A run that has files here stays in them, even
 *   if a server is configured later. Every call goes to the one home of its run, never to both, and there is no
 *   fallback from one to the other.
 * - A name or handle is looked up in the files first, then on the server.
 * - A call without a name only means runs that this project directory knows: its files, and server runs that began
 *   here or that a session or person here works on. Never all server runs: every main worktree has the same name.
 * - A run that began on a different server is not looked up on the configured server, unless this server has it:
 *   then the server has moved.
 */
export function withHomes({ local, server, directory, guard, onKnown }: HomeOptions): HomedEngine {
  const known = createKnownRuns(directory);
  return {
    serverOf: (run) => (hasFiles(run) ? undefined : (known.homeOf(run) ?? server.url)),
    know,
    async begin(definition, command, circumstances, once = onceFor(definition.name, command.now)) {
      guard();
      // Before the request: if the reply is lost, the same call finds the run again.
      known.add(once.run, server.url);
      const executed = await server.begin(definition, command, circumstances, once);
      if ('code' in executed.reply) known.drop(once.run);
      return executed;
    },
    async execute(run, command, key, circumstances) {
      const home = await homeOf(run);
      if (home === server) guard();
      const executed = await home.execute(run, command, key, circumstances);
      if (home === server) await learn(executed, circumstances?.facts !== undefined);
      return executed;
    },
    view: async (run) => (await homeOf(run)).view(run),
    async ids(name) {
      if (name === undefined) return [...new Set([...(await local.ids()), ...known.list(server.url)])];
      const here = await local.ids(name);
      if (here.length > 0) return here;
      // A suffix belongs to one run, so a run that is known here needs no request.
      const [meant] = known.list(server.url).filter((run) => run === name || suffixOf(run) === name);
      return meant === undefined ? await server.ids(name) : [meant];
    },
    runs,
    entries: async (run, after, most) => (await homeOf(run)).entries(run, after, most),
    text: async (run, words) => (await homeOf(run)).text(run, words),
    watch: async (run, seq, ms, watching) => (await homeOf(run)).watch(run, seq, ms, watching),
    async remove(run) {
      await (await homeOf(run)).remove(run);
      known.drop(run);
    },
  };

  async function homeOf(run: string): Promise<Engine> {
    if (hasFiles(run)) return local;
    const url = known.homeOf(run);
    if (url === undefined || url === server.url) return server;
    if ((await server.view(run)) === undefined) {
      const message = `${run} lives on ${url}, and this project is logged in at ${server.url}. Work on it after: ${commandName()} login ${url}`;
      throw new StepfastError('other_server', message);
    }
    known.add(run, server.url);
    return server;
  }

  /** A damaged run may have only one of the two files. */
  function hasFiles(run: string): boolean {
    const folder = join(directory, 'runs', run);
    return isRunId(run) && ['journal.jsonl', 'state.json'].some((name) => existsSync(join(folder, name)));
  }

  /** A run becomes known when a session here works on it, not when it is viewed. */
  async function learn({ run, reply, changed, view }: Executed, works: boolean): Promise<void> {
    if ('code' in reply) return;
    // The call has succeeded; a failure here is ignored.
    const isNew = works && known.homeOf(run) === undefined;
    const loaded = isNew ? (view ?? (await server.view(run).catch(() => undefined))) : undefined;
    if (loaded) know(loaded);
    if (changed && ['complete', 'failed', 'cancelled'].includes(reply.status)) known.end(run);
    else if (changed && known.homeOf(run) !== undefined) known.add(run, server.url);
  }

  function know(view: Loaded): void {
    const { run, state } = view;
    if (hasFiles(run)) return;
    guard();
    known.add(run, server.url);
    if (ended(state)) return known.end(run);
    onKnown(view);
  }

  /** Asks the server only for known runs: without a live one there, local runs are found while it is down. */
  async function runs({ ended: all = false }: { ended?: boolean } = {}): Promise<RunInfo[]> {
    const there: RunInfo[] = [];
    const names = (all ? known.list(server.url) : known.live(server.url)).filter((each) => !hasFiles(each));
    for (let from = 0; from < names.length; from += mostAtOnce)
      there.push(...(await Promise.all(names.slice(from, from + mostAtOnce).map(infoOf))).flat());
    const updated = ({ state }: RunInfo): number => state?.updatedAt ?? 0;
    return [...there, ...(await local.runs())].sort((one, other) => updated(other) - updated(one));
  }

  async function infoOf(run: string): Promise<RunInfo[]> {
    const view = await server.view(run);
    if (!view) known.drop(run);
    else if (ended(view.state)) known.end(run);
    return view ? [{ run, state: view.state }] : [];
  }
}
