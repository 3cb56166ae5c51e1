import { type Definition, endedUnproven, type State, titleOf, undroppedTasks } from '../../machine/index.ts';
import { columnsOf, printable } from '../../messages/index.ts';
import type { Format, Span } from '../paint.ts';
import type { Symbols } from './symbols.ts';

/** `✓ plan  ● build 2/7  ○ review`, on as many lines as needed. */
export function phaseLines(
  definition: Definition,
  state: State,
  symbols: Symbols,
  columns = Number.POSITIVE_INFINITY,
): Span[][] {
  const lines: Span[][] = [];
  let used = Number.POSITIVE_INFINITY;
  for (const [look, text] of phasesOf(definition, state, symbols)) {
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

function phasesOf(definition: Definition, state: State, symbols: Symbols): [Format, string][] {
  const current = definition.steps.findIndex(({ id }) => id === state.step);
  return definition.steps.map((step, index) => {
    const where =
      state.status === 'complete' || index < current ? 'done' : index === current ? 'here' : 'open';
    const [look, sign] =
      where === 'done' && isUnproven(definition, state, step.id)
        ? (['yellow', symbols.bad] as const)
        : lookOf(where, state, symbols);
    const far = where === 'here' ? progressIn(definition, state) : '';
    return [look, `${sign} ${printable(titleOf(step))}${far}`];
  });
}

/** Its `until` never held. */
const isUnproven = (definition: Definition, { outputs }: State, step: string): boolean =>
  Object.entries(outputs).some(
    ([key, output]) => key.startsWith(`${step}.`) && endedUnproven(definition, output),
  );

function lookOf(where: 'done' | 'here' | 'open', { status }: State, symbols: Symbols): [Format, string] {
  if (where === 'done') return ['green', symbols.done];
  if (where === 'open') return ['dim', symbols.open];
  if (status === 'failed' || status === 'cancelled') return ['red', symbols.bad];
  return status === 'waiting' ? [['bold', 'yellow'], symbols.waits] : [['bold', 'cyan'], symbols.here];
}

/** The progress of a loop or a ralph step: ` 2/7`. */
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
