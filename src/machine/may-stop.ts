import type { Definition } from '../schema/index.ts';
import { isFenced } from './fence.ts';
import { formatHandle } from './handle.ts';
import { own } from './own-property.ts';
import type { Cursor, State } from './state.ts';

const maxHolds = 3;

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
  | 'held_often';

export type StopVerdict = { hold: true; at: string } | { hold: false; why: StopReason };

/** Whether a host's stop may be held: only if the workflow or `stepfast hold` asks for it, and never in an endless loop. */
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

/** Why this position does not hold a stop. */
function mayLeave({ boundary, waiting, checking, stops }: Cursor, session: string): StopReason | undefined {
  if (boundary && (boundary.state !== 'released' || isFenced(boundary, session))) return 'context_action';
  if (waiting) return 'waiting';
  if (checking) return 'checking';
  return stops >= maxHolds ? 'held_often' : undefined;
}
