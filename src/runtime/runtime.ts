import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { hashDefinition, type Place, places } from '../definition/index.ts';
import {
  createEngine,
  createRemoteEngine,
  type Engine,
  knownRunsPath,
  newRun,
  type RemoteEngine,
  withHomes,
} from '../engine/index.ts';
import { parseHandle } from '../machine/index.ts';
import { createFileStore, type FileStore } from '../store/index.ts';
import {
  bootId,
  type Config,
  createGateKeeper,
  createTrust,
  findProject,
  machineId,
  markIfPossible,
  type Project,
  placeOf,
  type Resolved,
  type RunnerCommand,
  readConfig,
  requireOwnFolders,
  resolveWorkflow,
  serverFor,
  stateDirectory,
  type Trust,
} from '../workspace/index.ts';
import { type Answer, type Refused, refusedBy } from './answer.ts';
import { type CallOptions, createCall, type Request, type Wanted } from './call.ts';
import { createSurroundings, type Who } from './call-context.ts';
import { onlyLiveRun, runNamed } from './choose-run.ts';
import { withMarks } from './marked-engine.ts';
import { createMemory, type Memory } from './memory/memory.ts';
import { withRefusals } from './refusal-log.ts';
import { createStart, type StartRequest } from './start.ts';

/** One project seen by one caller; holds no run between calls. What an agent or a person can cause comes back as a refusal. */
export interface Runtime {
  readonly project: Project;
  readonly config: Config;
  readonly engine: Engine;
  readonly trust: Trust;
  /** What agents are told. */
  readonly memory: Memory;
  /** The local store, for what only files have: check and repair. */
  readonly store: FileStore;
  /** Where new runs begin; undefined: in files. */
  readonly server: Pick<RemoteEngine, 'url' | 'runs' | 'whoami'> | undefined;
  /** The server that a run lives on; undefined for one of files. */
  serverOf(run: string): string | undefined;
  readonly searchPath: readonly Place[];
  start(request: StartRequest, who: Who): Promise<Answer>;
  call(request: Request, who: Who, options?: CallOptions): Promise<Answer>;
  /** The run that is meant, or why that is unclear. */
  which(wanted: Wanted): Promise<{ run: string } | Refused>;
  /** Throws `no_workflow` and WorkflowValidationError. */
  resolve(workflow: string): Resolved;
  /** What the detached process does: runs the gates of one request and reports them. */
  runGates(run: string, id: string): Promise<void>;
}

export interface RuntimeOptions {
  cwd: string;
  env?: Readonly<Record<string, string | undefined>>;
  home?: string;
  worktree?: string;
  repoRoot?: string;
  /** The workflow that a start without a name means. */
  workflowPath?: string;
  /** Hashes that are trusted by this process. */
  trusted?: readonly string[];
  /** Starts this program's gate runner in a process of its own. */
  runner: RunnerCommand;
  clock?(): number;
  /** In place of the one that the environment or a login names. */
  server?: RemoteEngine;
  /** How long a call goes on asking a server that does not answer. */
  patienceMs?: number;
}

/** Longer than a server takes to start again. */
const patience = 30_000;

export function createRuntime(options: RuntimeOptions): Runtime {
  const { cwd, env = process.env } = options;
  const given = {
    ...(options.worktree === undefined ? {} : { worktree: options.worktree }),
    ...(options.repoRoot === undefined ? {} : { repoRoot: options.repoRoot }),
  };
  const project = findProject(cwd, given);
  const user = { env, ...(options.home === undefined ? {} : { home: options.home }) };
  const searchPath = places({ projectRoot: project.worktree, ...user });
  const state = stateDirectory(user);
  const machine = machineId(state);
  const cacheDirectory = join(state, 'cache');
  const config = readConfig(join(project.worktree, '.stepfast'));
  const trust = createTrust(state, options.trusted);
  const store = insideProject(
    project,
    createFileStore({
      directory: join(project.directory, 'runs'),
      machine,
      nonce: () => randomBytes(6).toString('hex'),
    }),
  );
  const files = createEngine({ store, newRun, hashOf: hashDefinition });
  const login = options.server ? undefined : serverFor(project.root, state, env);
  const { patienceMs = patience } = options;
  const timing = { patienceMs, ...(options.clock ? { clock: options.clock } : {}) };
  const server = options.server ?? (login && createRemoteEngine({ ...login, ...timing }));
  // The server sets every time, so what is compared with its times is its clock.
  const clock = server?.now ?? options.clock ?? Date.now;
  const guard = (): void => requireOwnFolders(project, [knownRunsPath]);
  const homes =
    server &&
    withHomes({
      local: files,
      server,
      directory: project.directory,
      guard,
      onKnown: (run) => markIfPossible(project.directory, run),
    });
  const engine = withRefusals(withMarks(homes ?? files, project.directory), project.directory);
  const place = server && placeOf(machine, project.root);
  const surroundings = createSurroundings({ project, trust, clock, env, cacheDirectory, place });
  const gates = createGateKeeper({
    engine,
    project,
    trust,
    clock,
    env,
    host: bootId(machine),
    cacheDirectory,
    runner: options.runner,
    place,
    isShared: (run) => serverOf(run) !== undefined,
  });
  const parts = { engine, project, gates, surroundings, which, place };
  const memory = createMemory({ ...parts, env, cacheDirectory });
  const start = createStart({
    ...parts,
    memory,
    know: async (run) => await homes?.know(run),
    definitionOf: (workflow) => resolve(workflow ?? options.workflowPath ?? 'go').definition,
  });
  const call = createCall({ ...parts, memory });
  return {
    project,
    config,
    engine,
    trust,
    memory,
    store,
    server,
    serverOf,
    searchPath,
    which,
    resolve,
    start: (request, who) => refusing(() => start(request, who)),
    call: (request, who, callOptions = {}) => refusing(() => call(request, who, callOptions)),
    runGates: gates.run,
  };

  async function which(wanted: Wanted): Promise<{ run: string } | Refused> {
    const suffix = wanted.at === undefined ? undefined : parseHandle(wanted.at)?.suffix;
    if (wanted.run !== undefined) return runNamed(await engine.ids(wanted.run), wanted.run);
    if (suffix !== undefined) return runNamed(await engine.ids(suffix), suffix, wanted.at);
    return onlyLiveRun(await engine.runs(), surroundings.here, wanted.changes ?? false);
  }

  function serverOf(run: string): string | undefined {
    return homes?.serverOf(run);
  }

  function resolve(workflow: string): Resolved {
    return resolveWorkflow(workflow, { searchPath, config, cwd });
  }
}

/** Looks where it writes before every write. */
function insideProject(project: Project, store: FileStore): FileStore {
  const guarded =
    <A extends unknown[], R>(write: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      requireOwnFolders(project);
      return await write(...args);
    };
  const { create, append, keep, remove, repair } = store;
  return {
    ...store,
    create: guarded(create),
    append: guarded(append),
    keep: guarded(keep),
    remove: guarded(remove),
    repair: guarded(repair),
  };
}

async function refusing(act: () => Promise<Answer>): Promise<Answer> {
  try {
    return await act();
  } catch (error) {
    const refused = refusedBy(error);
    if (!refused) throw error;
    return { reply: refused };
  }
}
