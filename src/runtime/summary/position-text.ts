import { type State, usedUp } from '../../machine/index.ts';

/** In a table: `build/task-2/verify`, `plan waits: review`, `3 positions`. */
export function positionText(state: State): string {
  if (state.status === 'complete' || state.status === 'failed' || state.status === 'cancelled')
    return state.status;
  const cursors = Object.values(state.cursors);
  const [only, second] = cursors;
  if (usedUp(state)) return `${state.step} waits: budget`;
  if (!only) return state.blocked === undefined ? state.step : `${state.step} is blocked`;
  if (second) return `${state.step}, ${cursors.length} positions`;
  if (only.checking) return `${only.path}, gates running`;
  return only.waiting ? `${only.path} waits: ${only.waiting.kind}` : only.path;
}
