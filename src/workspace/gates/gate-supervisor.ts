import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkingIn } from '../../engine/index.ts';
import type { Effect, State, Text } from '../../machine/index.ts';
import { findProject, local, type Project } from '../project.ts';
import { taskWorktree } from '../task-worktree.ts';
import { writeTodoFile } from '../todo-file.ts';
import { isSamePlace, unplaced } from '../worktree-id.ts';
import { type GateSurroundings, runRequested } from './gate-runner.ts';
import { runnerIs, stopRunners } from './runner-file.ts';

/** The program and its first arguments that start a gate runner. */
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

interface KeeperOptions extends GateSurroundings {
  runner: RunnerCommand;
  /** This project directory, and whether a run lives on a server: then others may have its tree. */
  place?: string | undefined;
  isShared?(run: string): boolean;
}

/** Why gates are to run here: the caller's own call asks for them, it found them, or it waits for nobody's. */
type Reason = 'asked' | 'found' | 'waited';

/** Performs what the machine asks for, and waits for gates without holding anything. */
export interface GateKeeper {
  /** Answers what the caller must be told of it. `found`: others asked for it before. */
  perform(run: string, effects: readonly Effect[], why?: 'asked' | 'found'): Promise<string | undefined>;
  settle(
    run: string,
    id: string,
    options: { until: number; onProgress: ((progress: GateProgress) => void) | undefined },
  ): Promise<'finished' | 'interrupted' | 'running'>;
  run(run: string, id: string): Promise<void>;
}

const pollMs = 250;
/** A server tells at once what moved: this is for what it cannot tell. */
const sharedPollMs = 2_000;
/** A runner that has not reported by then is asked for again. */
const patienceMs = 5_000;

export function createGateKeeper(options: KeeperOptions): GateKeeper {
  const { engine, project, clock, host, env, runner, cacheDirectory, place } = options;
  const isShared = (run: string): boolean => options.isShared?.(run) ?? false;
  return { perform, settle, run: (run, id) => runRequested(options, logsOf(run, id), run, id) };

  async function perform(
    run: string,
    effects: readonly Effect[],
    why: 'asked' | 'found' = 'asked',
  ): Promise<string | undefined> {
    let warning: string | undefined;
    for (const effect of effects) {
      if (effect.type === 'runGates') await startRunner(run, effect.id, effect.session, why);
      else if (effect.type === 'stopGates') stopRunners(logsOf(run, effect.id), host, [run, effect.id]);
      else warning = await writeTodo(run, effect.content);
    }
    return warning;
  }

  /** Detached, in a process group of its own: it outlives the call, the server and the session. */
  async function startRunner(
    run: string,
    id: string,
    session: string | undefined,
    why: Reason,
  ): Promise<void> {
    const view = await engine.view(run);
    if (view && !isOurs(view.state, session, why)) return;
    if (!isFirst(logsOf(run, id))) return;
    const cursor = view && Object.values(view.state.cursors).find((each) => each.checking?.id === id);
    const worktree =
      taskWorktree(project, run, cursor?.task) ??
      (view ? worktreeOf(view.state, session, project, place) : project.worktree);
    const child = spawn(
      runner.program,
      [...runner.args, run, id, '--repo-root', project.root, '--worktree', worktree],
      { cwd: worktree, env: { ...env }, detached: true, stdio: 'ignore' },
    );
    // That it could not start is noticed as a runner that never reports.
    child.on('error', () => {});
    child.unref();
  }

  /**
   * Gates run where the tree is. Those of a session that works elsewhere are started there; those of nobody in
   * particular by whoever waits for them while nobody else does.
   */
  function isOurs({ run, sessions }: State, session: string | undefined, why: Reason): boolean {
    if (why === 'asked' || !isShared(run)) return true;
    const works = session === undefined ? undefined : sessions[session]?.worktree;
    const where = works === undefined ? undefined : unplaced(works).place;
    return where === undefined ? why === 'waited' : where === place;
  }

  /** Calls that attach ask for a runner that nobody has seen yet: one at a time is enough. */
  function isFirst(logs: string): boolean {
    const mark = join(logs, 'asked');
    const asked = statSync(mark, { throwIfNoEntry: false })?.mtimeMs;
    if (asked !== undefined && Math.abs(Date.now() - asked) < patienceMs) return false;
    mkdirSync(logs, { recursive: true });
    writeFileSync(mark, '');
    return true;
  }

  async function writeTodo(run: string, content: Text): Promise<string | undefined> {
    const view = await engine.view(run);
    return writeTodoFile(view?.definition.todo_path, await engine.text(run, content), {
      worktree: project.worktree,
      directory: join(project.directory, 'runs', run),
      memory: join(cacheDirectory, 'todo'),
    });
  }

  async function settle(
    run: string,
    id: string,
    { until, onProgress }: Parameters<GateKeeper['settle']>[2],
  ): Promise<'finished' | 'interrupted' | 'running'> {
    let asked = clock();
    for (;;) {
      const view = await engine.view(run);
      const checking = view && checkingIn(view.state, id);
      if (!checking) return 'finished';
      const { runner: has, session, deadline } = checking;
      if (clock() > deadline || (has?.host === host && runnerIs(logsOf(run, id), host) === 'dead')) {
        // It may have reported between our look at the run and our look at the process.
        const again = await engine.view(run);
        return again && checkingIn(again.state, id) ? 'interrupted' : 'finished';
      }
      if (!has && clock() - asked > patienceMs) {
        asked = clock();
        await startRunner(run, id, session, 'waited');
      }
      if (clock() >= until) return 'running';
      onProgress?.({ run, id, logs: logsOf(run, id) });
      const most = isShared(run) ? sharedPollMs : pollMs;
      await engine.watch(run, view.version.seq, Math.min(most, until - clock()));
    }
  }

  function logsOf(run: string, id: string): string {
    return join(logsDirectory(project, run), logsName(id));
  }
}

/** Where the output of a run's gates is kept, a directory for each gate run. */
export const logsDirectory = (project: Project, run: string): string =>
  join(project.directory, 'runs', run, 'gates');

/** The directory of a gate run, by its id. */
export const logsName = (id: string): string => id.replaceAll(/[^\w.-]+/g, '-').replace(/^\.+/, '-');

/** The session's own worktree where this machine has it, else ours: a run from elsewhere may name any place. */
export function worktreeOf(
  state: State,
  session: string | undefined,
  project: Project,
  here?: string,
): string {
  const stored = session === undefined ? undefined : state.sessions[session]?.worktree;
  if (stored === undefined || isElsewhere(stored, here)) return project.worktree;
  const path = local(unplaced(stored).worktree, project.root);
  const isOurs = existsSync(path) && findProject(path).root === project.root;
  return isOurs ? path : project.worktree;
}

/** A worktree of another project directory, as its name tells. */
export const isElsewhere = (stored: string, place: string | undefined): boolean =>
  !isSamePlace(unplaced(stored).place, place);
