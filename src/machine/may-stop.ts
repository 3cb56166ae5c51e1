import type { Definition } from '../schema/index.ts';
import { isFenced } from './fence.ts';
import { formatHandle } from './handle.ts';
import { own } from './own-property.ts';
import type { Cursor, State } from './state.ts';

const maxHolds = 3;

export type StopVerdict = { hold: true; at: string; reason: string } | { hold: false; reason: string };

/** Whether a host's stop may be held: only if the workflow or `stepfast hold` asks for it, and never in an endless loop. */
export function mayStop(
  definition: Definition,
  state: State,
  stop: { session: string; active: boolean; asked?: boolean },
): StopVerdict {
  const allow = (reason: string): StopVerdict => ({ hold: false, reason });
  const session = own(state.sessions, stop.session);
  if (!session || session.endedAt !== undefined) return allow('the session is not bound to this run');
  if (definition.stop !== 'hold' && !stop.asked) return allow('the workflow does not hold stops');
  if (stop.active) return allow('the turn already continues after a held stop');
  if (state.status !== 'running') return allow(`the run is ${state.status}`);
  const mine = Object.values(state.cursors).filter(
    ({ lease }) => lease === undefined || lease.holder === stop.session,
  );
  const reasons = mine.map((cursor) => mayLeave(cursor, stop.session));
  const open = mine.find((_, index) => reasons[index] === undefined);
  if (!open) return allow(reasons[0] ?? 'the session holds no task');
  const at = formatHandle(state.run, open.path, open.visit);
  return { hold: true, at, reason: `${at} is not finished` };
}

/** Why this position does not hold a stop. */
function mayLeave({ boundary, waiting, checking, stops }: Cursor, session: string): string | undefined {
  if (boundary && (boundary.state !== 'released' || isFenced(boundary, session)))
    return 'a context action is pending';
  if (waiting) return 'the position waits for a decision';
  if (checking) return 'the gates are still running';
  return stops >= maxHolds ? `it was held ${maxHolds} times in this visit` : undefined;
}
