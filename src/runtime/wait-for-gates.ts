import { setInterval, setTimeout } from 'node:timers/promises';
import { type Circumstances, checkingIn, type Engine, type Executed, noRun } from '../engine/index.ts';
import { type Command, sameText, type Text } from '../machine/index.ts';
import type { Loaded } from '../store/index.ts';
import { type GateProgress, runnerPatienceMs, type Workspace } from '../workspace/index.ts';

interface Options {
  engine: Engine;
  workspace: Workspace;
  clock(): number;
}

interface Waiting {
  until: number;
  onProgress?: ((progress: GateProgress) => void) | undefined;
}

interface Settled {
  state: 'finished' | 'interrupted' | 'running';
  view: Loaded;
}

/** Starts gates in the workspace and waits for their results. */
export interface Gates {
  /** Returns a warning for the caller. `found`: an earlier call requested the effects. */
  perform(executed: Executed, why?: 'asked' | 'found'): Promise<string | undefined>;
  settle(view: Loaded, id: string, waiting: Waiting): Promise<Settled>;
  /** Has the worktree of a claimed task set up, and waits for it. `failed`: so has the task. */
  setUp(view: Loaded, task: string, until: number): Promise<'done' | 'running' | 'failed'>;
  /** Reads the tasks that a loop waits for from files, and answers the command as if they had been there. */
  withTasks(
    executed: Executed,
    status: Extract<Command, { type: 'status' }>,
    circumstances: Circumstances,
    why?: 'asked' | 'found',
  ): Promise<Executed>;
}

/** How often progress is reported, and whether the local runner is alive. */
const tickMs = 250;
const setUpTickMs = 100;
/** A runner may exit before its report arrives from the server. */
const reportMs = 2_000;

export function createGates({ engine, workspace, clock }: Options): Gates {
  const { gates } = workspace;
  const isShared = (run: string): boolean => engine.serverOf?.(run) !== undefined;
  return { perform, settle, setUp, withTasks };

  async function perform(executed: Executed, why: 'asked' | 'found' = 'asked'): Promise<string | undefined> {
    const { run, effects } = executed;
    if (effects.length === 0) return undefined;
    const view = executed.view ?? (await engine.view(run));
    const textOf = (text: Text): Promise<string> => engine.text(run, text);
    const performing = { why, shared: isShared(run), textOf };
    let warning = view && (await gates.perform(view, effects, performing));
    let written = effects.findLast((effect) => effect.type === 'writeTodo')?.content;
    while (view && written !== undefined) {
      // Another process may have replaced the list and written its file before this one did.
      const content = (await engine.view(run))?.state.todo;
      if (content === undefined || sameText(content, written)) break;
      warning = await gates.perform(view, [{ type: 'writeTodo', content }], performing);
      written = content;
    }
    return warning;
  }

  async function withTasks(
    executed: Executed,
    status: Extract<Command, { type: 'status' }>,
    circumstances: Circumstances,
    why: 'asked' | 'found' = 'asked',
  ): Promise<Executed> {
    const { run, effects } = executed;
    if (!effects.some(({ type }) => type === 'readTasks')) return executed;
    const view = executed.view ?? (await engine.view(run));
    const performing = { why, shared: isShared(run), engine, clock };
    if (!view || !(await gates.readTasks(view, effects, performing))) return executed;
    const { interrupted } = executed;
    return { ...(await engine.execute(run, status, undefined, circumstances)), changed: true, interrupted };
  }

  async function settle(loaded: Loaded, id: string, { until, onProgress }: Waiting): Promise<Settled> {
    const { run } = loaded;
    let view = loaded;
    let asked = clock();
    // Either clock ends the wait: the wall clock jumps ahead while a laptop sleeps, and it can be set back.
    const ends = performance.now() + (until - clock());
    for (;;) {
      const checking = checkingIn(view.state, id);
      if (!checking) return { state: 'finished', view };
      const { runner, session, deadline } = checking;
      const isLost = runner?.host === gates.host && gates.runnerIs(run, id) === 'dead';
      if (clock() > deadline || isLost) {
        // The runner may have reported after the run was loaded.
        const now = await load(run);
        if (now.version.seq === view.version.seq) return { state: 'interrupted', view };
        view = now;
        continue;
      }
      if (!runner && clock() - asked > runnerPatienceMs) {
        asked = clock();
        gates.ensureRunner(view, id, { why: 'waited', shared: isShared(run), session });
      }
      if (clock() >= until || performance.now() >= ends) return { state: 'running', view };
      const patience = runner ? Number.POSITIVE_INFINITY : asked + runnerPatienceMs;
      view = await moved(view, id, { until: Math.min(until, deadline + 1), ends, patience, onProgress });
    }
  }

  async function setUp(loaded: Loaded, task: string, until: number): Promise<'done' | 'running' | 'failed'> {
    let asked: number | undefined;
    for (;;) {
      const before = gates.setUpOf(loaded, task);
      if (before === 'done') return 'done';
      if (before === 'none') {
        // Its process may have ended since: then the task has failed, or the worktree is ready.
        const { state } = await load(loaded.run);
        const cursor = Object.values(state.cursors).find((each) => each.task === task);
        const now = gates.setUpOf(loaded, task);
        if (now === 'done') return 'done';
        if (now === 'none' && (!cursor || cursor.waiting)) return 'failed';
        if (now === 'none' && (asked === undefined || clock() - asked > runnerPatienceMs)) {
          asked = clock();
          gates.startSetUp(loaded, task, { engine, clock });
        }
      }
      if (clock() >= until) return 'running';
      await setTimeout(setUpTickMs);
    }
  }

  async function load(run: string): Promise<Loaded> {
    const view = await engine.view(run);
    if (!view) throw noRun(run);
    return view;
  }

  /** Returns the run when its gates end or the local runner dies. */
  async function moved(
    view: Loaded,
    id: string,
    { until, ends, patience, onProgress }: Waiting & { ends: number; patience: number },
  ): Promise<Loaded> {
    const { run, version } = view;
    const stop = new AbortController();
    const { signal } = stop;
    const waitMs = Math.max(0, Math.min(until - clock(), ends - performance.now()));
    const watching = engine.watch(run, version.seq, waitMs, { check: id, signal });
    const patienceAfterExit = isShared(run) ? reportMs : 0;
    let lostAt: number | undefined;
    const isOver = (): boolean => {
      onProgress?.({ run, id, logs: gates.logsOf(run, id) });
      const runner = gates.runnerIs(run, id);
      lostAt = runner === 'dead' ? (lostAt ?? clock()) : undefined;
      const isOverdue = runner === 'unknown' && clock() > patience;
      const isLate = clock() >= until || performance.now() >= ends;
      return isLate || isOverdue || (lostAt !== undefined && clock() - lostAt >= patienceAfterExit);
    };
    const ticks = setInterval(tickMs, undefined, { signal });
    const over = (async () => {
      for await (const _ of ticks) if (isOver()) return undefined;
      return undefined;
    })();
    try {
      onProgress?.({ run, id, logs: gates.logsOf(run, id) });
      return (await Promise.race([watching, over])) ?? (await load(run));
    } finally {
      stop.abort();
      for (const each of [watching, over]) each.catch(() => {});
    }
  }
}
