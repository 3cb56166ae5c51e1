import { randomUUID } from 'node:crypto';
import { StepfastError } from '../errors.ts';
import {
  type Cursor,
  ended,
  handleOf,
  isMerging,
  parallelOf,
  readyTasks,
  type State,
  stepOf,
} from '../machine/index.ts';
import { boundReachedText, leftoversHeldText, setUpFailedText } from '../messages/index.ts';
import type { Refused } from '../runtime/index.ts';
import type { Loaded } from '../store/index.ts';
import { branchIn, endProcesses, markedProcesses, runBranch, waitForGitOf } from '../workspace/index.ts';
import { commitWork } from './commit-work.ts';
import { takeLease } from './lease.ts';
import { createMergeQueue, removeMerged } from './merge-queue.ts';
import { isActionable, work } from './worker.ts';
import { type DriverContext, delay, engine, isPaused, load, pauseFor } from './worker-context.ts';

export interface DriveOptions extends DriverContext {
  /** The branch that collects the work of the run. */
  branch: string | undefined;
  /** Goes on as soon as a person has decided; otherwise ends where only a person can continue. */
  stays: boolean;
}

export type Outcome =
  | {
      end: 'complete' | 'failed' | 'cancelled' | 'paused' | 'waits' | 'stopped';
      /** Of a run that has ended: why what is left in its worktree is not on its branch. */
      left?: string;
    }
  /** Another driver has the run. */
  | { end: 'refused'; refused: Refused };

/** The worker of everything but tasks in parallel. Task ids have no colon. */
const mainWorker = 'main:';
const mergeWorker = 'merge:';
const setUpMs = 30 * 60_000;

/** Takes a run to its end. All truth is in the store: a driver that was killed is started again and goes on. */
export async function drive(options: DriveOptions): Promise<Outcome> {
  const { runtime, run, timing, branch, report } = options;
  const { state: begun } = await load(options);
  if (ended(begun)) return await finishEnded(options, begun);
  const lease = await takeLease(runtime, run, branch);
  if ('code' in lease) return { end: 'refused', refused: lease };
  const stop = new AbortController();
  const context: DriverContext = {
    ...options,
    signal: AbortSignal.any([options.signal, lease.lost, stop.signal]),
  };
  const workers = new Map<string, Promise<void>>();
  const queue = createMergeQueue(context, lease.epoch, { left: async (task) => await workers.get(task) });
  const bound = await createBound(context);
  let failure: unknown;
  let reported: string | undefined;
  try {
    await endLeftovers(context, begun);
    const held = await commitLeft(context, branch);
    if (held !== undefined) await pauseFor(context, held);
    await setUp(context);
    await removeMerged(context);
    await reportTaken();
    for (;;) {
      if (failure !== undefined) throw failure;
      const view = await load(context);
      const { state } = view;
      if (state.status === 'complete' || state.status === 'failed' || state.status === 'cancelled') {
        await Promise.all(workers.values());
        await removeMerged(context);
        // Commands of the engine leave files, too.
        const { worktree } = runtime.project;
        return over(state.status, await commitWork(context, { worktree, worker: 'main' }));
      }
      if (context.signal.aborted) return over('stopped');
      if (await bound.reached(view)) continue;
      if (!isPaused(state)) startWork(view);
      const isIdle = [...workers.keys()].every((name) => name === mergeWorker && queue.isWaiting);
      if (isIdle && (isPaused(state) || state.status === 'waiting')) {
        reportWait(state);
        if (!options.stays) return over(isPaused(state) ? 'paused' : 'waits');
      } else reported = undefined;
      const changed = runtime.engine.watch(run, view.version.seq, timing.pollMs).catch(() => undefined);
      await Promise.race([changed, ...workers.values(), delay(timing.pollMs, context.signal)]);
    }
  } finally {
    stop.abort();
    await Promise.allSettled(workers.values());
    await lease.release();
  }

  async function reportTaken(): Promise<void> {
    const { definition } = await load(context);
    const { worktree } = runtime.project;
    report({
      type: 'taken',
      run,
      workflow: definition.name,
      worktree,
      ...(branch === undefined ? {} : { branch }),
    });
  }

  function over(end: Exclude<Outcome['end'], 'refused'>, left?: string): Outcome {
    report({ type: 'over', end });
    return { end, ...(left === undefined ? {} : { left }) };
  }

  function reportWait(state: State): void {
    const reason = waitReason(state);
    if (reported !== reason) report({ type: 'waits', for: 'person', reason });
    reported = reason;
  }

  /** Starts what can be done now and is not under way. */
  function startWork(view: Loaded): void {
    const { definition, state } = view;
    const alone = mainCursor(view);
    if (alone && isActionable(view, alone)) begin(mainWorker, workAlone);
    const step = stepOf(definition, state.step);
    // The worktrees of tasks begin with what the main worker commits after its last turn.
    if (parallelOf(step) < 2 || workers.has(mainWorker)) return;
    const held = Object.values(state.cursors).flatMap((cursor) => cursor.task ?? []);
    for (const cursor of Object.values(state.cursors)) {
      const { task } = cursor;
      if (task !== undefined && isActionable(view, cursor)) begin(task, () => resume(task));
    }
    const busy = new Set([...held, ...workers.keys()]);
    for (const name of [mainWorker, mergeWorker]) busy.delete(name);
    const ready = readyTasks(state, step).filter(({ id }) => !busy.has(id));
    if (state.status === 'running')
      for (const { id } of ready.slice(0, Math.max(0, parallelOf(step) - busy.size)))
        begin(id, () => claim(id));
    if (isMerging(state)) begin(mergeWorker, () => queue.round());
  }

  function begin(name: string, job: () => Promise<void>): void {
    if (workers.has(name)) return;
    const running = job()
      .catch((error: unknown) => {
        failure ??= error;
      })
      .finally(() => workers.delete(name));
    workers.set(name, running);
  }

  async function workAlone(): Promise<void> {
    const { worktree } = runtime.project;
    // Work and gates would be those of another tree.
    if (options.commits && (await branchIn(worktree)) !== runBranch(run))
      return await pauseFor(context, leftoversHeldText('branch', []));
    const afterTurn = () => commitWork(context, { worktree, worker: 'main' });
    await work(context, { name: 'main', find: mainCursor, worktree, afterTurn, reachesBound: bound.reached });
  }

  async function claim(task: string): Promise<void> {
    // The session that works on it takes this name's place.
    const holder = `driver-${randomUUID()}`;
    const request = { type: 'claim', holder, task } as const;
    const { worktree } = await runtime.call(request, engine, { run, waitMs: setUpMs });
    if (worktree === undefined) await resume(task);
    else await workOn(task, worktree);
  }

  /** A driver that was killed may have claimed it, and no more. */
  async function resume(task: string): Promise<void> {
    const view = await load(context);
    const cursor = cursorOf(task)(view);
    if (!cursor) return;
    const path = await runtime.workspace.createTaskWorktree(view, task);
    if (path !== undefined) {
      const { signal } = context;
      const problem = await runtime.workspace.setUp(view, { path, task, slot: cursor.slot }, signal);
      if (signal.aborted) return;
      const at = handleOf(view.state, cursor);
      if (problem !== undefined)
        await runtime.call({ type: 'fail', at, reason: setUpFailedText(problem) }, engine, { run });
    }
    await workOn(task, path);
  }

  async function workOn(task: string, own: string | undefined): Promise<void> {
    const worktree = own ?? runtime.project.worktree;
    // The merge queue commits what is left of a task that is in it, and gives it back if it cannot.
    const afterTurn = async (cursor: Cursor | undefined) =>
      own !== undefined && cursor ? await commitWork(context, { worktree, worker: task, task }) : undefined;
    await work(context, {
      name: task,
      find: cursorOf(task),
      worktree,
      afterTurn,
      reachesBound: bound.reached,
    });
  }
}

const cursorOf =
  (task: string) =>
  ({ state }: Loaded): Cursor | undefined =>
    Object.values(state.cursors).find((cursor) => cursor.task === task);

/** The one position that no task worker is responsible for. */
function mainCursor({ definition, state }: Loaded): Cursor | undefined {
  const isParallel = parallelOf(stepOf(definition, state.step)) > 1;
  return Object.values(state.cursors).find(({ task }) => task === undefined || !isParallel);
}

function waitReason({ paused, held, blocked, cursors, merges = {} }: State): string {
  if (paused) return `paused by ${paused.by}`;
  const waiting = Object.values(cursors).flatMap(({ path, waiting: each }) =>
    each ? [`${path}: ${each.kind === 'blocked' ? each.reason : each.kind}`] : [],
  );
  const parked = Object.entries(merges).flatMap(([task, { state, reason }]) =>
    state === 'parked' ? [`${task} is parked: ${reason}`] : [],
  );
  return [held?.reason ?? blocked ?? [], waiting, parked].flat().join('; ') || 'a budget';
}

/** Sessions and git of a driver that was killed may still run. Nothing of them may change files any more. */
async function endLeftovers(context: DriverContext, { driver }: State): Promise<void> {
  const { runtime, run, report } = context;
  if (driver) await waitForGitOf(driver.process.pid);
  const left = markedProcesses(`${run}/`);
  await endProcesses(left);
  for (const { command } of left) report({ type: 'leftover', worker: 'main', command });
  const { state } = await load(context);
  for (const [session, { witness, endedAt }] of Object.entries(state.sessions))
    if (witness === 'driver' && endedAt === undefined && !ended(state))
      await runtime.call({ type: 'session', event: { type: 'ended' } }, { session }, { run });
}

/** The run ended before this driver took it, or a killed one left work uncommitted and sessions running. */
async function finishEnded(options: DriveOptions, begun: State): Promise<Outcome> {
  await endLeftovers(options, begun);
  const left = await commitLeft(options, options.branch);
  await removeMerged(options);
  const { status } = begun;
  const end = status === 'failed' || status === 'cancelled' ? status : 'complete';
  options.report({ type: 'over', end });
  return { end, ...(left === undefined ? {} : { left }) };
}

/**
 * Commits what a killed driver did not come to, and returns why it could not. In a checkout of the person this may be
 * their own work.
 */
async function commitLeft(context: DriverContext, branch: string | undefined): Promise<string | undefined> {
  const { runtime, run } = context;
  if (branch !== runBranch(run)) return undefined;
  return await commitWork(context, { worktree: runtime.project.worktree, worker: 'main' });
}

/** Only the driver of the run changes its worktree. Throws `no_worktree`. */
async function setUp(context: DriverContext): Promise<void> {
  const { workspace, project } = context.runtime;
  const problem = await workspace.setUp(await load(context), { path: project.worktree }, context.signal);
  if (problem !== undefined && !context.signal.aborted)
    throw new StepfastError('no_worktree', `The worktree could not be set up: ${problem}`);
}

/** A workflow without a budget has one all the same: its run is paused when this much was used since the last pause. */
async function createBound(context: DriverContext) {
  const { clock, timing } = context;
  const { turns, ms } = timing.bounds;
  let startedAt = clock();
  let before = turnsIn((await load(context)).state);
  return {
    async reached({ definition, state }: Loaded): Promise<boolean> {
      if (state.paused) {
        startedAt = clock();
        before = turnsIn(state);
        return false;
      }
      if (definition.budget || definition.steps.some(({ budget }) => budget)) return false;
      const isLate = clock() - startedAt > ms;
      if (turnsIn(state) - before < turns && !isLate) return false;
      const name = isLate ? boundReachedText('hours', ms / 3_600_000) : boundReachedText('turns', turns);
      await pauseFor(context, name);
      return true;
    },
  };
}

const turnsIn = ({ told = {} }: State): number =>
  Object.values(told).reduce((sum, { turns }) => sum + turns, 0);
