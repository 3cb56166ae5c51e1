import { commandName } from '../command-name.ts';
import { createKnownRuns, type Engine } from '../engine/index.ts';
import { ended } from '../machine/index.ts';
import {
  type Bindings,
  createBindings,
  createSessions,
  type HookKind,
  openEngine,
  type Sessions,
  sourceState,
} from '../runtime/index.ts';
import type { Loaded, RunInfo } from '../store/index.ts';
import {
  bootId,
  createMarks,
  isAlive,
  type Marks,
  markedRuns,
  type Project,
  sessionEnvironment,
  unmarkRun,
} from '../workspace/index.ts';
import type { HookEnvironment } from './hook-environment.ts';
import { noteLive } from './live-project.ts';
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
  machine: string;
  checkout: string | undefined;
  /** By the clock that sets the times of the run: its server's, or this machine's. */
  nowOf(run: string): number;
  /** A server is asked. */
  shared: boolean;
  /** Why runs could not be read; the others go on. */
  problems: string[];
}

export function openHookContext(project: Project, around: HookEnvironment, kind: HookKind): HookContext {
  const { env, home, now, program } = around;
  const marks = createMarks(project.directory);
  const problems: string[] = [];
  const patienceMs = patienceFor(project, kind, around);
  const notifier = { program: process.execPath, args: [program, 'notifier'] };
  const opened = openEngine({ project, env, home, clock: now, together: true, patienceMs, notifier });
  const { server, state, machine, checkout } = opened;
  const waits = kind === 'stop' || kind === 'subagent_stop' || kind === 'wake';
  const whole = waits ? opened.engine : remembering(opened.engine);
  const engine: Engine = { ...whole, runs };
  const bindings = createBindings(project.directory);
  const known = createSessions({
    engine,
    bindings,
    project,
    clock: now,
    nowOf,
    boot: bootId(machine),
    environment: () => sessionEnvironment(project, env),
    isAlive,
    checkout: checkout,
    onError: (error) => {
      if (isServerError(error)) throw error;
      problems.push(messageOf(error));
    },
  });
  const sessions: Sessions = {
    ...known,
    async called(key, call) {
      await known.called(key, call);
      noteLive(around, project, call.run);
    },
  };
  const shared = server !== undefined && patienceMs > 0;
  return {
    ...around,
    project,
    engine,
    sessions,
    bindings,
    marks,
    state,
    machine,
    checkout,
    nowOf,
    shared,
    problems,
  };

  function nowOf(run: string): number {
    return server && whole.serverOf?.(run) !== undefined ? server.now() : now();
  }

  async function runs(): Promise<RunInfo[]> {
    const found: RunInfo[] = [];
    for (const run of markedRuns(marks)) {
      const info = await infoOf(run);
      // Ended or removed without its marks being removed.
      if (!info || (info.state && ended(info.state))) unmarkRun(marks, run);
      else if (!isWithoutSource(info)) found.push(info);
    }
    return found;
  }

  /** An adopted run is not under way where its source is not, for instance on another branch. */
  function isWithoutSource({ state }: RunInfo): boolean {
    return state?.adopted !== undefined && sourceState(project, state.adopted) === 'gone';
  }

  /** One that cannot be read now is not gone; of a server that does not answer nothing is known at all. */
  async function infoOf(run: string): Promise<RunInfo | undefined> {
    try {
      const view = await whole.view(run);
      const url = view || server ? undefined : createKnownRuns(project.directory).homeOf(run);
      if (url !== undefined)
        throw new Error(
          `${run} lives on ${url}, and this session has no token for it: ${commandName()} login ${url}`,
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

/** Reads each run once: an event that waits for nothing sees it as it found it, and as its own calls left it. */
function remembering(engine: Engine): Engine {
  const views = new Map<string, Loaded>();
  return {
    ...engine,
    async view(run) {
      const view = views.get(run) ?? (await engine.view(run));
      if (view) views.set(run, view);
      return view;
    },
    async execute(run, ...rest) {
      views.delete(run);
      const executed = await engine.execute(run, ...rest);
      if (executed.view) views.set(run, executed.view);
      return executed;
    },
  };
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
