import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { hashDefinition } from '../definition/index.ts';
import {
  createEngine,
  createRemoteEngine,
  type Engine,
  knownRunsPath,
  newRun,
  type RemoteEngine,
  withHomes,
} from '../engine/index.ts';
import { createFileStore, type FileStore } from '../store/index.ts';
import {
  checkoutId,
  machineId,
  markIfPossible,
  type Project,
  requireOwnFolders,
  serverFor,
  stateDirectory,
} from '../workspace/index.ts';
import { withMarks } from './marked-engine.ts';
import { withRefusals } from './refusal-log.ts';

export interface EngineOptions {
  project: Project;
  env: Readonly<Record<string, string | undefined>>;
  home?: string | undefined;
  clock?: (() => number) | undefined;
  /** In place of the one that the environment or a login names. */
  server?: RemoteEngine | undefined;
  /** How long a call goes on asking a server that does not answer. */
  patienceMs: number;
  /** For a process that lives for one moment, such as a hook. */
  together?: boolean;
}

/** The runs of a project, in its files and on the server that it is logged in to. */
export interface OpenedEngine {
  engine: Engine;
  /** The local store, for what only files have: check and repair. */
  store: FileStore;
  /** Where new runs begin; undefined: in files. */
  server: RemoteEngine | undefined;
  /** Where Stepfast keeps what it knows of this user. */
  state: string;
  machine: string;
  /** This project directory of this machine, where runs live on a server too. */
  checkout: string | undefined;
}

/** Loads no more than a hook needs. */
export function openEngine({
  project,
  env,
  home,
  clock,
  together = false,
  ...options
}: EngineOptions): OpenedEngine {
  const state = stateDirectory({ env, home });
  const machine = machineId(state);
  const store = insideProject(
    project,
    createFileStore({
      directory: join(project.directory, 'runs'),
      machine,
      nonce: () => randomBytes(6).toString('hex'),
    }),
  );
  const files = createEngine({ store, newRun, hashOf: hashDefinition });
  const server = options.server ?? loggedIn();
  const { directory } = project;
  const homes =
    server &&
    withHomes({
      local: files,
      server,
      directory,
      guard: () => requireOwnFolders(project, [knownRunsPath]),
      onKnown: (run) => markIfPossible(directory, run),
    });
  return {
    engine: withRefusals(withMarks(homes ?? files, directory), directory),
    store,
    server,
    state,
    machine,
    checkout: server && checkoutId(machine, project.root),
  };

  function loggedIn(): RemoteEngine | undefined {
    const login = serverFor(project.root, state, env);
    if (!login) return undefined;
    const { patienceMs } = options;
    return createRemoteEngine({ ...login, patienceMs, together, clock });
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
