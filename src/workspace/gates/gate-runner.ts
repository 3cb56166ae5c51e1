import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { commandsOf } from '../../definition/index.ts';
import { conditionContext, type Engine, type Executed, outputsAt, readOutput } from '../../engine/index.ts';
import { StepfastError } from '../../errors.ts';
import { runGates } from '../../evidence/index.ts';
import {
  type CommandOf,
  commandIn,
  type Definition,
  handleOf,
  type RequestedGate,
} from '../../machine/index.ts';
import { setUpFailedText } from '../../messages/index.ts';
import type { Loaded } from '../../store/index.ts';
import { taskWorktree } from '../worktrees/places.ts';
import { abortOnSignal, type GateOptions, type GateRun } from './gate-options.ts';
import { gateRequest } from './gate-request.ts';
import { markRunner } from './runner-file.ts';
import { isCurrent, setUpWorktree } from './set-up-worktree.ts';
import { takeTurn } from './worktree-turn.ts';

/** Runs and reports the gates of one request, unless it is no longer open or another runner has it. */
export async function runRequested(
  { project, trust, env, host, cacheDirectory }: GateOptions,
  logs: string,
  { engine, clock, run, id }: GateRun,
): Promise<Executed | undefined> {
  const engineCaller = () => ({ now: clock(), actor: { kind: 'engine' as const } });
  const runner = { pid: process.pid, host };
  const view = await engine.view(run);
  // Checked again, because any program may have started this process.
  if (!view || !trust.has(view.definition)) return undefined;
  const cursor = Object.values(view.state.cursors).find((each) => each.checking?.id === id);
  const checking = cursor?.checking;
  if (!cursor || !checking) return undefined;
  // Gates that change files run twice.
  const limitMs = 2 * (checking.deadline - clock());
  let deadline = 0;
  // Before the run records it, so that readers find it.
  const unmark = markRunner(logs, host);
  const start = async (): Promise<boolean> => {
    deadline = clock() + limitMs;
    const command = { ...engineCaller(), type: 'gatesStarted' as const, id, runner, deadline };
    return !('code' in (await engine.execute(run, command)).reply);
  };
  if (!(await start())) {
    unmark();
    return undefined;
  }
  const stop = abortOnSignal();
  const report = (result: Finished): Promise<Executed> => {
    const command = { ...engineCaller(), type: 'gatesFinished' as const, id, runner, ...result };
    return retryWhileAway(
      () => engine.execute(run, command),
      () => clock() <= deadline,
    );
  };
  /** Until the worktree is free, the start is reported again before its deadline passes. */
  const turn = async (): Promise<() => void> => {
    // A gate that starts a run of its own would wait for itself.
    if (env.STEPFAST_RUN_ID !== undefined || !checking.gates.some(({ gate }) => gate.run)) return () => {};
    let waited = false;
    const end = await takeTurn(project.worktree, {
      cacheDirectory,
      host,
      until: () => Date.now() + limitMs,
      signal: stop.signal,
      onWait: async () => {
        waited = true;
        if (deadline - clock() < limitMs / 2 && !(await start())) stop.abort();
      },
    });
    if (waited && !(await start())) stop.abort();
    return end;
  };
  /** While the worktree of the task is set up, the start is reported again before its deadline passes. */
  const setUp = async (): Promise<string | undefined> => {
    const { task } = cursor;
    const path = taskWorktree(project, run, task);
    if (task === undefined || path === undefined || (await isCurrent(view.definition, path)))
      return undefined;
    const again = async (): Promise<void> => {
      if (!(await start())) stop.abort();
    };
    const timer = setInterval(() => void again().catch(() => {}), Math.max(limitMs / 3, 1000));
    try {
      const options = { project, trust, env, host, cacheDirectory };
      return await setUpWorktree({ ...view, task, slot: cursor.slot, path }, options, {
        logs,
        signal: stop.signal,
      });
    } finally {
      clearInterval(timer);
      await again();
    }
  };
  const results = async (): Promise<Finished | undefined> => {
    const problem = await setUp();
    if (problem !== undefined) throw new StepfastError('no_worktree', setUpFailedText(problem));
    mustBeTrusted(checking.gates, view.definition);
    const context = await conditionContext(
      engine,
      view,
      checking.gates.flatMap(({ gate }) => gate.condition ?? []),
      cursor,
    );
    const outputs = commandIn(cursor) === undefined ? {} : await writeOutputs(engine, view, logs);
    const { receipts, tree, unstable, output } = await runGates({
      ...gateRequest({ ...view, cursor, checking, context, project, env, outputs }),
      logDirectory: logs,
      cacheDirectory,
      signal: stop.signal,
    });
    if (stop.signal.aborted) return undefined;
    return {
      receipts,
      ...(output === undefined ? {} : { output }),
      ...(tree === undefined ? {} : { tree }),
      ...(unstable === undefined ? {} : { unstable }),
    };
  };
  let endTurn = (): void => {};
  try {
    endTurn = await turn();
    const result = stop.signal.aborted ? undefined : await results();
    return result ? await report(result) : undefined;
  } catch (error) {
    if (isAway(error)) return undefined;
    const message = error instanceof Error ? error.message : String(error);
    const tail = `could not be run: ${message}`.slice(0, 4000);
    // The caller waits for a result, so report the failure.
    if (!cursor.preparing) return await report({ receipts: [{ gate: 0, pass: false, tail }] });
    // Gates before the work that could not be run say nothing about it.
    if (!isNotSetUp(error))
      return await report({
        receipts: checking.gates.map((_, gate) => ({ gate, pass: false, undecided: true as const, tail })),
      });
    const at = handleOf(view.state, cursor);
    return await engine.execute(run, { ...engineCaller(), type: 'fail', at, reason: message });
  } finally {
    endTurn();
  }
}

type Finished = Omit<CommandOf<'gatesFinished'>, 'type' | 'id' | 'now'>;

const firstAwayMs = 100;
const longestAwayMs = 2_000;

/** Repeats a call that the server didn't get: soon after a short outage. */
export async function retryWhileAway<T>(call: () => Promise<T>, mayWait: () => boolean): Promise<T> {
  for (let pause = firstAwayMs; ; pause = Math.min(pause * 2, longestAwayMs)) {
    try {
      return await call();
    } catch (error) {
      if (!isAway(error) || !mayWait()) throw error;
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }
}

const isNotSetUp = (error: unknown): boolean =>
  error instanceof StepfastError && error.code === 'no_worktree';

const isAway = (error: unknown): boolean =>
  error instanceof StepfastError && error.code === 'server_unreachable';

/** Trust covers the definition, but the request is from the journal: refuse any other command. */
function mustBeTrusted(gates: readonly RequestedGate[], definition: Definition): void {
  const trusted = commandsOf(definition);
  const stranger = gates.find(({ gate }) => gate.run !== undefined && !trusted.includes(gate.run));
  if (stranger)
    throw new StepfastError('untrusted', `'${stranger.gate.run}' is no command of '${definition.name}'`);
}

/** The outputs so far, for the commands of the engine. */
export async function writeOutputs(
  engine: Engine,
  view: Loaded,
  logs: string,
): Promise<Record<string, string>> {
  const outputs: [string, unknown][] = [];
  for (const [key, text] of outputsAt(view.state))
    outputs.push([key, readOutput(view.definition, key, await engine.text(view.run, text))]);
  mkdirSync(logs, { recursive: true });
  const file = join(logs, 'outputs.json');
  writeFileSync(file, JSON.stringify(Object.fromEntries(outputs)), { mode: 0o600 });
  return { STEPFAST_OUTPUTS: file };
}
