import type { Definition, State } from '../../machine/index.ts';
import type { Format, Span } from '../paint.ts';
import { printable } from '../text.ts';
import type { Signs } from './signs.ts';

/** `✓ plan  ● build 2/7  ○ review`. */
export function phaseLine(definition: Definition, state: State, signs: Signs): Span[] {
  const current = definition.steps.findIndex(({ id }) => id === state.step);
  return definition.steps.flatMap((step, index): Span[] => {
    const where =
      state.status === 'complete' || index < current ? 'done' : index === current ? 'here' : 'open';
    const [look, sign] = lookOf(where, state, signs);
    const far = where === 'here' ? progressIn(definition, state) : '';
    return [...(index > 0 ? ['  '] : []), [look, `${sign} ${printable(step.id)}${far}`]];
  });
}

function lookOf(where: 'done' | 'here' | 'open', { status }: State, signs: Signs): [Format, string] {
  if (where === 'done') return ['green', signs.done];
  if (where === 'open') return ['dim', signs.open];
  if (status === 'failed' || status === 'cancelled') return ['red', signs.bad];
  return status === 'waiting' ? [['bold', 'yellow'], signs.waits] : [['bold', 'cyan'], signs.here];
}

/** How far a loop or a ralph step has come: ` 2/7`. */
function progressIn(definition: Definition, state: State): string {
  const step = definition.steps.find(({ id }) => id === state.step);
  if (step?.type === 'ralph') {
    const iteration = Object.values(state.cursors)[0]?.iteration;
    return iteration === undefined ? '' : ` ${iteration}/${step.n ?? 1}`;
  }
  const list = step?.type === 'loop' ? state.tasks[step.loop ?? step.id] : undefined;
  if (!list) return '';
  const over = Object.values(list.byId).filter((task) => task.end === 'done').length;
  return ` ${over}/${list.order.length}`;
}
