import type { Definition } from '../schema/index.ts';
import type { Action, Claim, Delegate, Wait } from './action.ts';
import { defined } from './batch.ts';
import { budgetPivotTarget, type UsedUp, unitsUsedUp, usedUp } from './budget-use.ts';
import { isFenced } from './fence.ts';
import { formatHandle } from './handle.ts';
import { own } from './own-property.ts';
import { type Cursor, isWithin, type State } from './state.ts';
import { awaitsTasks, commandIn, loopIdOf, parallelOf, readyTasks, stepOf, workAt } from './steps.ts';
import { taskStates } from './task-states.ts';

/** The session that asks, and the position of its call. */
export interface Reader {
  cursor?: Cursor | undefined;
  session?: string | undefined;
}

const mostReady = 20;

/**
 * Lists what can be done next, the most urgent first. A reader with a position gets one action. A reader without one,
 * in a loop with parallel tasks, gets the claim first and then the actions of its own tasks.
 *
 * @example
 * ```ts
 * import { actions, type State, type WorkflowTemplate } from 'stepfast';
 *
 * const isFinished = (workflow: WorkflowTemplate, state: State): boolean =>
 *   actions(workflow, state)[0].do === 'nothing';
 * ```
 */
export function actions(definition: Definition, state: State, reader: Reader = {}): [Action, ...Action[]] {
  const { cursor, session } = reader;
  if (state.status === 'complete' || state.status === 'failed' || state.status === 'cancelled')
    return [{ do: 'nothing', because: state.status, run: state.run }];
  if (cursor) return [actionAt(definition, state, cursor, session)];
  const over = usedUp(state);
  if (over) return [budgetAction(definition, state, over)];
  if (state.blocked !== undefined) return [{ do: 'wait', for: 'decision', step: state.step }];
  const mine = Object.values(state.cursors).filter(({ lease }) => lease && lease.holder === session);
  return [
    claimAction(definition, state, session),
    ...mine.map((each) => actionAt(definition, state, each, session)),
  ];
}

function budgetAction(definition: Definition, state: State, { unit, of }: UsedUp): Wait {
  const pivotTo = budgetPivotTarget(definition, state);
  const others = unitsUsedUp(definition, state).filter((each) => each !== unit);
  const more = others.length > 0 ? others : undefined;
  return { do: 'wait', for: 'budget', unit, ...defined({ more, of, pivotTo }) };
}

function actionAt(definition: Definition, state: State, cursor: Cursor, session: string | undefined): Action {
  const at = formatHandle(state.run, cursor.path, cursor.visit);
  const { checking, waiting, boundary, preparing } = cursor;
  if (checking) {
    const command = commandIn(cursor);
    const before = cursor.preparing ? (true as const) : undefined;
    return { do: 'wait', for: 'gates', ...defined({ command, before }), at };
  }
  const over = usedUp(state);
  if (over) return { ...budgetAction(definition, state, over), at };
  if (waiting?.kind === 'review') return reviewAction(definition, state, cursor, waiting, session);
  if (waiting?.kind === 'question') return { do: 'wait', for: 'answer', at };
  if (waiting || state.blocked !== undefined) return { do: 'wait', for: 'decision', step: cursor.step, at };
  if (preparing) return { do: 'wait', for: 'preparation', at };
  const isDriven = own(state.sessions, session ?? '')?.witness === 'driver';
  const work = workAt(definition, cursor);
  const agent = work.agent ?? stepOf(definition, cursor.step).agent;
  if (boundary && (boundary.state !== 'released' || isFenced(boundary, session))) {
    const asked = boundary.state === 'requested' ? boundary.session : undefined;
    const elsewhere =
      asked !== undefined && session && !isWithin(asked, session) && !isWithin(session, asked);
    return {
      do: 'reset_context',
      at,
      context: boundary.action,
      required: boundary.policy === 'require',
      ...(agent === undefined ? {} : { agent }),
      ...(elsewhere ? { elsewhere } : {}),
      ...(isDriven ? { driven: true as const } : {}),
    };
  }
  const failed = cursor.receipts?.filter((receipt) => !receipt.pass && receipt.role !== 'until') ?? [];
  if (failed.length > 0 || cursor.unstable) {
    const gates = failed.map(({ what, exit, expect, before }) => ({
      what,
      ...defined({ exit, expect, before }),
    }));
    return { do: 'fix', at, gates, ...(cursor.unstable ? { changed: cursor.unstable } : {}) };
  }
  if (awaitsTasks(definition, cursor)) return { do: 'work', at, step: cursor.step, finish: 'set_tasks' };
  // A driver opens the session of the right agent itself.
  const delegate = agent === undefined || isDriven ? {} : { delegate: delegateTo(definition, agent) };
  return { do: 'work', at, step: cursor.step, finish: 'advance', ...delegate };
}

function reviewAction(
  definition: Definition,
  state: State,
  cursor: Cursor,
  waiting: Extract<Cursor['waiting'], { kind: 'review' }>,
  session: string | undefined,
): Action {
  const at = formatHandle(state.run, cursor.path, cursor.visit);
  if (waiting.by === 'human') {
    const leaves = awaitsTasks(definition, cursor) ? { leaves: cursor.step } : {};
    const exhausted = waiting.exhausted ? { exhausted: cursor.step } : {};
    return { do: 'wait', for: 'review', by: 'person', at, ...leaves, ...exhausted };
  }
  const ownWork = session !== undefined && waiting.session === session;
  const witness = own(state.sessions, session ?? '')?.witness;
  return {
    do: 'wait',
    for: 'review',
    by: { agent: waiting.by },
    at,
    ...(ownWork ? { ownWork } : {}),
    ...(witness === undefined ? {} : { witnessed: true as const }),
    ...(witness === 'driver' ? { driven: true as const } : {}),
  };
}

function delegateTo({ agents }: Definition, agent: string): Delegate {
  const { description, tools, cannot = [] } = own(agents, agent) ?? {};
  return {
    agent,
    ...(description === undefined ? {} : { description }),
    ...(tools === undefined ? {} : { tools }),
    cannot,
  };
}

/** The tasks of the current loop that can be claimed. Only a reader without a session sees handles of other sessions. */
export function claimAction(definition: Definition, state: State, session: string | undefined): Action {
  const step = stepOf(definition, state.step);
  const cursors = Object.values(state.cursors);
  const limit = parallelOf(step);
  const visible = (cursor: Cursor): boolean => session === undefined || cursor.lease?.holder === session;
  const handle = (cursor: Cursor): string => formatHandle(state.run, cursor.path, cursor.visit);
  const decisionAt = (cursor: Cursor): Claim['decisions'] => {
    const { waiting, task = '' } = cursor;
    if (!waiting) return [];
    return [{ task, kind: waiting.kind, ...(visible(cursor) ? { at: handle(cursor) } : {}) }];
  };
  const ready = limit > cursors.length ? readyTasks(state, step).map(({ id }) => id) : [];
  return {
    do: 'claim',
    run: state.run,
    step: step.id,
    ready: ready.slice(0, mostReady),
    own: cursors.filter((cursor) => visible(cursor) && !cursor.waiting).map(handle),
    held: cursors.length,
    limit,
    open: taskStates(definition, state, loopIdOf(step)).filter(
      ({ state: { is } }) => is !== 'ended' && is !== 'ready',
    ),
    decisions: state.status === 'waiting' ? cursors.flatMap(decisionAt) : [],
  };
}
