import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Effect, State, Text } from '../../machine/index.ts';
import type { Loaded } from '../../store/index.ts';
import { findProject, local, type Project } from '../project.ts';
import { readTasks } from '../read-tasks.ts';
import { startApart } from '../start-apart.ts';
import { writeTodoFile } from '../todo-file.ts';
import { isSameCheckout, splitCheckout } from '../worktree-id.ts';
import { taskWorktree } from '../worktrees/places.ts';
import { abortOnSignal, type GateOptions, type GateRun } from './gate-options.ts';
import { runRequested } from './gate-runner.ts';
import { runCleanup } from './run-cleanup.ts';
import { runnerIs, stopRunners } from './runner-file.ts';
import { isSetUp, runSetUp, setUpId, setUpProblem, taskOfSetUp } from './set-up-worktree.ts';

/** The program and first arguments of a gate runner. */
export interface RunnerCommand {
  program: string;
  args: readonly string[];
}

export interface GateProgress {
  run: string;
  id: string;
  /** Where the output of the gates is written while they run. */
  logs: string;
}

interface SupervisorOptions extends GateOptions {
  /** Without it, no gates start here. */
  runner?: RunnerCommand | undefined;
  /** The id of this project directory, if a server is configured. */
  checkout?: string | undefined;
}

/** Why gates should run here: the call requested them, found them pending, or waits for them. */
type Reason = 'asked' | 'found' | 'waited';

export interface Performing {
  why: Reason;
  /** The run is on a server: its tree may be elsewhere. */
  shared: boolean;
}

/** Performs the machine's effects: gate runner processes and the to-do list. */
export interface GateSupervisor {
  /** Returns a warning for the caller. */
  perform(
    view: Loaded,
    effects: readonly Effect[],
    options: Performing & { textOf(text: Text): Promise<string> },
  ): Promise<string | undefined>;
  /** Starts a runner, unless one was started a moment ago or the gates are for another checkout. */
  ensureRunner(view: Loaded, id: string, options: Performing & { session?: string | undefined }): void;
  /** The runner on this machine. */
  runnerIs(run: string, id: string): 'alive' | 'dead' | 'unknown';
  /** This machine, boot and process id namespace. */
  readonly host: string;
  logsOf(run: string, id: string): string;
  /** The session's worktree, by default ours; undefined if it belongs to another checkout. */
  worktreeOf(state: State, session: string | undefined): string | undefined;
  /** Reads the tasks of loops that wait for them, where their files are here. True if the run has moved by it. */
  readTasks(
    view: Loaded,
    effects: readonly Effect[],
    options: Performing & Pick<GateRun, 'engine' | 'clock'>,
  ): Promise<boolean>;
  /** Starts a process that sets up the worktree of a claimed task, unless one was started a moment ago. */
  startSetUp(view: Loaded, task: string, options: Pick<GateRun, 'engine' | 'clock'>): void;
  /** `none`: no process is at it, or none that is known yet. */
  setUpOf(view: Loaded, task: string): 'done' | 'running' | 'none';
  /** Why the last setup failed. */
  setUpProblem(run: string, task: string): string;
  /** In the detached process: runs the gates of one request and reports them, or sets up the worktree of a task. */
  run(gates: GateRun): Promise<void>;
}

/** Instead of the id of a gate run: the commands of `finally`. */
const cleanupId = ({ cleanup }: State): string => `cleanup-${cleanup?.endedAt ?? ''}`;
const isCleanup = (id: string): boolean => id.startsWith('cleanup-');
/** Without a process of its own, a setup ends with its caller's. */
const never = new AbortController().signal;

/** A runner that has not reported by then is restarted. */
export const runnerPatienceMs = 5_000;

export function createGateSupervisor(options: SupervisorOptions): GateSupervisor {
  const { project, host, env, runner, cacheDirectory, checkout } = options;
  return {
    perform,
    ensureRunner,
    runnerIs: (run, id) => runnerIs(logsOf(run, id), host),
    host,
    logsOf,
    worktreeOf,
    readTasks: readAll,
    startSetUp,
    setUpOf,
    setUpProblem: (run, task) => setUpProblem(logsOf(run, setUpId(task))),
    run: async (gates) => {
      if (isCleanup(gates.id)) return await runCleanup(options, logsOf(gates.run, gates.id), gates);
      const task = taskOfSetUp(gates.id);
      if (task !== undefined)
        return await runSetUp(options, logsOf(gates.run, gates.id), gates, task, abortOnSignal().signal);
      const executed = await runRequested(options, logsOf(gates.run, gates.id), gates);
      const view = executed?.view ?? (executed && (await gates.engine.view(gates.run)));
      if (view && executed) await readAll(view, executed.effects, { ...gates, why: 'asked', shared: false });
      // What passed may have opened a step that needs no agent.
      for (const effect of view ? (executed?.effects ?? []) : [])
        if (view) ensureFor(view, effect, { why: 'asked', shared: false });
    },
  };

  async function perform(
    view: Loaded,
    effects: readonly Effect[],
    { textOf, ...performing }: Parameters<GateSupervisor['perform']>[2],
  ): Promise<string | undefined> {
    const { run, definition } = view;
    let warning: string | undefined;
    for (const effect of effects) {
      const { type } = effect;
      if (type === 'runGates' || type === 'cleanUp') ensureFor(view, effect, performing);
      else if (type === 'stopGates') stopRunners(logsOf(run, effect.id), host, [run, effect.id]);
      else if (type === 'writeTodo')
        warning = writeTodoFile(definition.todo_path, await textOf(effect.content), {
          worktree: project.worktree,
          directory: join(project.directory, 'runs', run),
          memory: join(cacheDirectory, 'todo'),
        });
    }
    return warning;
  }

  function ensureFor(view: Loaded, effect: Effect, performing: Performing): void {
    if (effect.type === 'runGates') ensureRunner(view, effect.id, { ...performing, session: effect.session });
    else if (effect.type === 'cleanUp')
      ensureRunner(view, cleanupId(view.state), { ...performing, session: view.state.last?.session });
  }

  async function readAll(
    { run, definition, state }: Loaded,
    effects: readonly Effect[],
    { engine, clock, ...performing }: Parameters<GateSupervisor['readTasks']>[2],
  ): Promise<boolean> {
    let moved = false;
    for (const effect of effects) {
      if (effect.type !== 'readTasks' || !isForUs(state, effect.session, performing)) continue;
      const source = definition.steps.find(({ id }) => id === effect.step)?.tasks;
      const worktree = worktreeOf(state, effect.session) ?? project.worktree;
      const found = source ? await readTasks(source, worktree, env) : {};
      const by = { now: clock(), actor: { kind: 'engine' as const } };
      const { changed } = await engine.execute(run, { ...by, ...found, type: 'prepared', at: effect.at });
      moved ||= changed;
    }
    return moved;
  }

  /** Detached, in its own process group: outlives the call, the server and the session. */
  function ensureRunner(
    { run, state }: Loaded,
    id: string,
    { session, ...performing }: Parameters<GateSupervisor['ensureRunner']>[2],
  ): void {
    if (!runner || !isForUs(state, session, performing) || !isFirst(logsOf(run, id))) return;
    const cursor = Object.values(state.cursors).find((each) => each.checking?.id === id);
    const worktree =
      taskWorktree(project, run, cursor?.task) ?? worktreeOf(state, session) ?? project.worktree;
    startProcess(runner, [run, id], worktree);
  }

  function startProcess({ program, args }: RunnerCommand, more: readonly string[], worktree: string): void {
    const child = startApart(
      program,
      [...args, ...more, '--repo-root', project.root, '--worktree', worktree],
      { cwd: worktree, env: { ...env } },
    );
    // A failed start shows as a runner that never reports.
    child.on('error', () => {});
  }

  function startSetUp(
    { run }: Loaded,
    task: string,
    { engine, clock }: Parameters<GateSupervisor['startSetUp']>[2],
  ): void {
    const id = setUpId(task);
    const worktree = taskWorktree(project, run, task);
    if (worktree === undefined || !isFirst(logsOf(run, id))) return;
    if (runner) startProcess(runner, [run, id], worktree);
    else void runSetUp(options, logsOf(run, id), { engine, clock, run, id }, task, never).catch(() => {});
  }

  function setUpOf({ run, definition }: Loaded, task: string): 'done' | 'running' | 'none' {
    const worktree = taskWorktree(project, run, task);
    if (worktree === undefined || isSetUp(definition, worktree)) return 'done';
    return runnerIs(logsOf(run, setUpId(task)), host) === 'alive' ? 'running' : 'none';
  }

  /**
   * Gates run where the tree is. Those of a session in another checkout start there; those without a session are
   * started by a caller that waits for them.
   */
  function isForUs({ sessions }: State, session: string | undefined, { why, shared }: Performing): boolean {
    if (why === 'asked' || !shared) return true;
    const works = session === undefined ? undefined : sessions[session]?.worktree;
    const where = works === undefined ? undefined : splitCheckout(works).checkout;
    return where === undefined ? why === 'waited' : where === checkout;
  }

  /** Several calls may wait for a runner that has not reported yet; only one restarts it. */
  function isFirst(logs: string): boolean {
    const mark = join(logs, 'asked');
    const asked = statSync(mark, { throwIfNoEntry: false })?.mtimeMs;
    if (asked !== undefined && Math.abs(Date.now() - asked) < runnerPatienceMs) return false;
    mkdirSync(logs, { recursive: true });
    writeFileSync(mark, '');
    return true;
  }

  function logsOf(run: string, id: string): string {
    return join(logsDirectory(project, run), logsName(id));
  }

  /** An untrusted run may name any path. */
  function worktreeOf(state: State, session: string | undefined): string | undefined {
    const stored = session === undefined ? undefined : state.sessions[session]?.worktree;
    if (stored === undefined) return project.worktree;
    const { worktree, checkout: theirs } = splitCheckout(stored);
    if (!isSameCheckout(theirs, checkout)) return undefined;
    const path = local(worktree, project.root);
    return existsSync(path) && findProject(path).root === project.root ? path : project.worktree;
  }
}

/** Holds the output of a run's gates, one directory per gate run. */
export const logsDirectory = (project: Project, run: string): string =>
  join(project.directory, 'runs', run, 'gates');

/** The directory of a gate run. */
export const logsName = (id: string): string => id.replaceAll(/[^\w.-]+/g, '-').replace(/^\.+/, '-');
