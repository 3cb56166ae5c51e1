import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { hashDefinition } from '../definition/index.ts';
import {
  createEngine,
  createKnownRuns,
  createRemoteEngine,
  type Engine,
  knownRunsPath,
  lookingOnce,
  newRun,
  withHomes,
} from '../engine/index.ts';
import { ended } from '../machine/index.ts';
import {
  type Bindings,
  createBindings,
  createSessions,
  type HookKind,
  type Sessions,
  withMarks,
} from '../runtime/index.ts';
import { createFileStore, type RunInfo } from '../store/index.ts';
import {
  bootId,
  createMarks,
  isAlive,
  type Marks,
  machineId,
  markedRuns,
  markIfPossible,
  type Project,
  placeOf,
  requireOwnFolders,
  serverFor,
  sessionEnvironment,
  stateDirectory,
  unmarkRun,
} from '../workspace/index.ts';
import type { HookEnvironment } from './hook-environment.ts';
import { isServerError, patienceFor } from './server-outage.ts';

/** A project as hooks see it: the parts of a runtime that need no workflow files, no gates and no trust. */
export interface HookContext extends HookEnvironment {
  project: Project;
  /** Its runs are those with marks: a project may keep many that have ended. */
  engine: Engine;
  sessions: Sessions;
  bindings: Bindings;
  marks: Marks;
  state: string;
  /** By the clock that sets the times of the run: its server's, or this machine's. */
  nowOf(run: string): number;
  /** A server is asked. */
  shared: boolean;
  /** Why runs could not be read; the others go on. */
  problems: string[];
}

export function openHookContext(project: Project, around: HookEnvironment, kind: HookKind): HookContext {
  const { env, home, now } = around;
  const state = stateDirectory({ env, home });
  const machine = machineId(state);
  const marks = createMarks(project.directory);
  const problems: string[] = [];
  const store = createFileStore({
    directory: join(project.directory, 'runs'),
    machine,
    nonce: () => randomBytes(6).toString('hex'),
  });
  const files = createEngine({ store, newRun, hashOf: hashDefinition });
  const login = serverFor(project.root, state, env);
  const patienceMs = login ? patienceFor(project, kind, around) : 0;
  const homes = login && bothHomes(login);
  const whole = lookingOnce(withMarks(homes?.engine ?? files, project.directory));
  const engine: Engine = { ...whole, runs };
  const bindings = createBindings(project.directory);
  const sessions = createSessions({
    engine,
    bindings,
    project,
    clock: now,
    nowOf,
    boot: bootId(machine),
    environment: () => sessionEnvironment(project, env),
    isAlive,
    place: login && placeOf(machine, project.root),
    onError: (error) => {
      if (isServerError(error)) throw error;
      problems.push(messageOf(error));
    },
  });
  const shared = patienceMs > 0;
  return { ...around, project, engine, sessions, bindings, marks, state, nowOf, shared, problems };

  function nowOf(run: string): number {
    return homes?.engine.serverOf(run) === undefined ? now() : homes.server.now();
  }

  function bothHomes({ url, token }: { url: string; token: string }) {
    const server = lookingOnce(createRemoteEngine({ url, token, patienceMs, together: true, clock: now }));
    const guard = (): void => requireOwnFolders(project, [knownRunsPath]);
    return {
      server,
      engine: withHomes({
        local: files,
        server,
        directory: project.directory,
        guard,
        onKnown: (run) => markIfPossible(project.directory, run),
      }),
    };
  }

  async function runs(): Promise<RunInfo[]> {
    const found: RunInfo[] = [];
    for (const run of markedRuns(marks)) {
      const info = await infoOf(run);
      // Ended or removed where nobody took its marks away.
      if (!info || (info.state && ended(info.state))) unmarkRun(marks, run);
      else found.push(info);
    }
    return found;
  }

  /** One that cannot be read now is not gone; of a server that does not answer nothing is known at all. */
  async function infoOf(run: string): Promise<RunInfo | undefined> {
    try {
      const view = await whole.view(run);
      const url = view || login ? undefined : createKnownRuns(project.directory).homeOf(run);
      if (url !== undefined)
        throw new Error(
          `${run} lives on ${url}, and this session has no token for it: stepfast login ${url}`,
        );
      return view && { run, state: view.state };
    } catch (error) {
      if (isServerError(error)) throw error;
      const problem = messageOf(error);
      problems.push(problem);
      return { run, problem };
    }
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
