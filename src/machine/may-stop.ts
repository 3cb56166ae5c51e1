import type { Definition } from '../schema/index.ts';
import { isFenced } from './fence.ts';
import { gatesOn } from './gates.ts';
import { formatHandle } from './handle.ts';
import { own } from './own-property.ts';
import type { Cursor, State } from './state.ts';
import { awaitsTasks } from './steps.ts';

/** How often a stop may be held in one visit. */
export const maxHolds = 3;

/** Why a stop is not held. */
export type StopReason =
  | 'not_bound'
  | 'not_asked'
  | 'held_this_turn'
  | 'run_not_running'
  | 'no_task'
  | 'context_action'
  | 'waiting'
  | 'checking'
  | 'preparing'
  | 'held_often'
  | 'several_positions'
  | 'needs_tasks';

export type StopVerdict = { hold: true; at: string } | { hold: false; why: StopReason };

/**
 * Whether a host's stop may be held: only if the workflow or `stepfast hold` asks for it, and never in an endless loop.
 *
 * @example
 * ```ts
 * import { mayStop, type State, type WorkflowTemplate } from 'stepfast';
 *
 * const isHeld = (workflow: WorkflowTemplate, state: State, session: string): boolean =>
 *   mayStop(workflow, state, { session, active: false }).hold;
 * ```
 */
export function mayStop(
  definition: Definition,
  state: State,
  stop: { session: string; active: boolean; asked?: boolean },
): StopVerdict {
  const allow = (why: StopReason): StopVerdict => ({ hold: false, why });
  const session = own(state.sessions, stop.session);
  if (!session || session.endedAt !== undefined) return allow('not_bound');
  if (definition.stop !== 'hold' && !stop.asked) return allow('not_asked');
  if (stop.active) return allow('held_this_turn');
  if (state.status !== 'running') return allow('run_not_running');
  const mine = Object.values(state.cursors).filter(
    ({ lease }) => lease === undefined || lease.holder === stop.session,
  );
  const reasons = mine.map((cursor) => mayLeave(cursor, stop.session));
  const open = mine.find((_, index) => reasons[index] === undefined);
  if (!open) return allow(reasons[0] ?? 'no_task');
  return { hold: true, at: formatHandle(state.run, open.path, open.visit) };
}

/** What the end of a turn means under `stop: check`. */
export type StopCheck =
  /** `gated`: the position has gates that say whether its work is done. */
  { at: string; gated: boolean; stops: number; checked?: Cursor['checked'] } | { why: StopReason };

/** The one position of a session that is open and waits for nothing. */
export function checkAtStop(definition: Definition, state: State, name: string): StopCheck {
  const session = own(state.sessions, name);
  if (!session || session.endedAt !== undefined) return { why: 'not_bound' };
  if (state.status !== 'running') return { why: 'run_not_running' };
  const mine = Object.values(state.cursors).filter(
    ({ lease }) => lease === undefined || lease.holder === name,
  );
  const [cursor, second] = mine;
  if (!cursor || second) return { why: cursor ? 'several_positions' : 'no_task' };
  if (!cursor.preparing && awaitsTasks(definition, cursor)) return { why: 'needs_tasks' };
  const why = mayLeave({ ...cursor, stops: 0 }, name);
  if (why !== undefined) return { why };
  const gated = gatesOn(definition, cursor).some(
    ({ gate }) => gate.run !== undefined || gate.exists !== undefined,
  );
  const { stops, checked } = cursor;
  return {
    at: formatHandle(state.run, cursor.path, cursor.visit),
    gated,
    stops,
    ...(checked ? { checked } : {}),
  };
}

/** Why this position does not hold a stop. */
function mayLeave(
  { boundary, waiting, checking, preparing, stops }: Cursor,
  session: string,
): StopReason | undefined {
  if (boundary && (boundary.state !== 'released' || isFenced(boundary, session))) return 'context_action';
  if (waiting) return 'waiting';
  if (checking) return 'checking';
  if (preparing) return 'preparing';
  return stops >= maxHolds ? 'held_often' : undefined;
}
