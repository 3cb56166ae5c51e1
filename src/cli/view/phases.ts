import { type Definition, type State, undroppedTasks } from '../../machine/index.ts';
import { columnsOf, printable } from '../../messages/index.ts';
import type { Format, Span } from '../paint.ts';
import type { Signs } from './symbols.ts';

/** `✓ plan  ● build 2/7  ○ review`, on as many lines as it needs: where a run stands is never cut. */
export function phaseLines(
  definition: Definition,
  state: State,
  signs: Signs,
  columns = Number.POSITIVE_INFINITY,
): Span[][] {
  const lines: Span[][] = [];
  let used = Number.POSITIVE_INFINITY;
  for (const [look, text] of phasesOf(definition, state, signs)) {
    const width = columnsOf(text);
    if (used + 2 + width > columns || lines.length === 0) {
      lines.push([[look, text]]);
      used = width;
    } else {
      lines.at(-1)?.push('  ', [look, text]);
      used += 2 + width;
    }
  }
  return lines;
}

function phasesOf(definition: Definition, state: State, signs: Signs): [Format, string][] {
  const current = definition.steps.findIndex(({ id }) => id === state.step);
  return definition.steps.map((step, index) => {
    const where =
      state.status === 'complete' || index < current ? 'done' : index === current ? 'here' : 'open';
    const [look, sign] = lookOf(where, state, signs);
    const far = where === 'here' ? progressIn(definition, state) : '';
    return [look, `${sign} ${printable(step.id)}${far}`];
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
  const wanted = undroppedTasks(list);
  return ` ${wanted.filter((task) => task.end === 'done').length}/${wanted.length}`;
}
