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
  type RunnerCommand,
  requireOwnFolders,
  serverFor,
  stateDirectory,
} from '../workspace/index.ts';
import { withMarks } from './marked-engine.ts';
import { withMirror } from './mirrored-engine.ts';
import { withNotifications } from './notifications/notifying-engine.ts';
import { withRefusals } from './refusal-log.ts';

export interface EngineOptions {
  project: Project;
  env: Readonly<Record<string, string | undefined>>;
  home?: string | undefined;
  clock?: (() => number) | undefined;
  /** Replaces the server of the environment or the login. */
  server?: RemoteEngine | undefined;
  /** Asks a person for a credential of that server, where it demands one; without it nothing is decided there. */
  credential?: ((server: RemoteEngine) => Promise<string>) | undefined;
  /** How long a call retries a server that does not answer. */
  patienceMs: number;
  /** For a short-lived process such as a hook. */
  together?: boolean;
  /** Starts the process that notifies the user; without it nobody is notified. */
  notifier?: RunnerCommand | undefined;
}

/** The runs of a project, in its files and on the server that it is logged in to. */
export interface OpenedEngine {
  engine: Engine;
  /** The local store, for check and repair. */
  store: FileStore;
  /** New runs start on this server; undefined: in files. */
  server: RemoteEngine | undefined;
  /** The directory of this user's state. */
  state: string;
  machine: string;
  /** Identifies this project directory on this machine, if runs are on a server. */
  checkout: string | undefined;
}

/** Loads no more than a hook needs. */
export function openEngine({
  project,
  env,
  home,
  clock,
  together = false,
  notifier,
  ...options
}: EngineOptions): OpenedEngine {
  const state = stateDirectory({ env, home });
  const machine = machineId(state);
  const store = createFileStore({
    directory: join(project.directory, 'runs'),
    machine,
    nonce: () => randomBytes(6).toString('hex'),
    guard: () => requireOwnFolders(project),
  });
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
  const engine = withRefusals(withMirror(withMarks(homes ?? files, directory), project), directory);
  return {
    engine: notifier ? withNotifications(engine, { project, env, home, state, notifier }) : engine,
    store,
    server,
    state,
    machine,
    checkout: server && checkoutId(machine, project.root),
  };

  function loggedIn(): RemoteEngine | undefined {
    const login = serverFor(project.root, state, env);
    if (!login) return undefined;
    const { patienceMs, credential } = options;
    const remote = createRemoteEngine({
      ...{ ...login, patienceMs, together, clock },
      credential: credential && (() => credential(remote)),
    });
    return remote;
  }
}
