import type { Definition } from './definition.ts';
import { formatHandle } from './handle.ts';
import { own } from './record.ts';
import type { State } from './state.ts';

const maxHolds = 3;

export type StopVerdict = { hold: true; at: string; reason: string } | { hold: false; reason: string };

/** Whether a host's stop may be held: only where the workflow or `stepfast hold` asked, and never in a circle. */
export function mayStop(
  definition: Definition,
  state: State,
  stop: { session: string; active: boolean; asked?: boolean },
): StopVerdict {
  const allow = (reason: string): StopVerdict => ({ hold: false, reason });
  const session = own(state.sessions, stop.session);
  if (!session || session.endedAt !== undefined) return allow('the session is not bound to this run');
  if (definition.stop !== 'hold' && !stop.asked) return allow('nobody asked for it to be held');
  if (stop.active) return allow('the host is already going on because of a held stop');
  if (state.status !== 'running') return allow(`the run is ${state.status}`);
  const cursors = Object.values(state.cursors).filter(
    (cursor) => cursor.lease === undefined || cursor.lease.holder === stop.session,
  );
  const [cursor] = cursors;
  if (!cursor) return allow('the session holds no task');
  if (cursor.boundary !== undefined && cursor.boundary.state !== 'released')
    return allow('a context action is waited for');
  if (cursor.waiting) return allow('the position waits for somebody');
  if (cursor.checking) return allow('the gates are still running');
  if (cursor.stops >= maxHolds) return allow(`it was held ${maxHolds} times in this visit`);
  const at = formatHandle(state.run, cursor.path, cursor.visit);
  return { hold: true, at, reason: `${at} is not finished: advance it, or say why it failed` };
}
