import { join } from 'node:path';
import {
  bootId,
  type Config,
  findProject,
  isAlive,
  type LocalWorkspace,
  openWorkspace,
  type Project,
  type RunnerCommand,
  readConfig,
  type WorkspaceOptions,
} from '../workspace/index.ts';
import { type EngineOptions, type OpenedEngine, openEngine } from './open-engine.ts';
import { createRuntime, type Runtime } from './runtime.ts';
import { createBindings } from './sessions/binding-files.ts';
import { heldElsewhere } from './sessions/live-runs.ts';

/** The runtime of a project on this disk, with the parts that only CLI commands need. */
export interface LocalRuntime
  extends Runtime,
    Pick<LocalWorkspace, 'trust' | 'searchPath' | 'resolve'>,
    Pick<OpenedEngine, 'store' | 'server'> {
  readonly workspace: LocalWorkspace;
  readonly project: Project;
  readonly config: Config;
  /** The server of a run; undefined for a run in files. */
  serverOf(run: string): string | undefined;
}

export interface RuntimeOptions
  extends Pick<WorkspaceOptions, 'home' | 'workflowPath' | 'trusted' | 'checkTool'>,
    Pick<EngineOptions, 'clock' | 'server' | 'notifier' | 'credential'> {
  cwd: string;
  env?: Readonly<Record<string, string | undefined>>;
  worktree?: string | undefined;
  repoRoot?: string | undefined;
  /** Starts the gate runner in a separate process. */
  runner: RunnerCommand;
  /** How long a call retries a server that does not answer. */
  patienceMs?: number | undefined;
}

/** Longer than a server takes to restart. */
const patience = 30_000;

/** Throws `bad_config` and other errors of an invalid project. */
export function openRuntime(options: RuntimeOptions): LocalRuntime {
  const { cwd, env = process.env, home, worktree, repoRoot, patienceMs = patience } = options;
  const project = findProject(cwd, { worktree, repoRoot, env, home });
  const config = readConfig(join(project.worktree, '.stepfast'));
  const { clock, notifier, server: given, credential } = options;
  const opened = openEngine({
    ...{ project, env, home, clock, notifier, server: given, patienceMs, credential },
  });
  const { engine, store, server, state, machine, checkout } = opened;
  const { workflowPath, trusted, runner, checkTool } = options;
  const workspace = openWorkspace({
    ...{ project, env, home, cwd, config, state, machine, checkout },
    ...{ workflowPath, trusted, runner, checkTool },
  });
  const { trust, searchPath, resolve } = workspace;
  const now = clock ?? Date.now;
  const isHeld = async (run: string, session: string | undefined): Promise<boolean> => {
    const presence = { now: now(), boot: bootId(machine), isAlive };
    return heldElsewhere(run, session, await createBindings(project.directory).list(), presence);
  };
  return {
    // The server sets all times, so they are compared with its clock.
    ...createRuntime({ engine, workspace, clock: server?.now ?? now, isHeld }),
    workspace,
    project,
    config,
    trust,
    searchPath,
    resolve,
    store,
    server,
    serverOf: (run) => engine.serverOf?.(run),
  };
}
