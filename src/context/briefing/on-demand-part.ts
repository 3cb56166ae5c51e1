import { opening } from '../../machine/index.ts';
import { askFor, count, oneLine } from './bounded-text.ts';
import { firstRound, item } from './budget-bounds.ts';
import { firstWithin } from './text-size.ts';
import type { ListedPart } from './briefing-part.ts';
import type { BriefingSource } from './briefing-source.ts';

/** The to-do list and whole outputs are told when they are asked for; files that the run made are named. */
export function onDemandPart({ state, more, todo }: BriefingSource): ListedPart {
  const outputs = Object.keys(state.outputs).length;
  const list = todo ?? (state.todo === undefined ? undefined : opening(state.todo));
  const lines = [
    ...(list === undefined ? [] : [`- the to-do list: ${askFor(more, 'todo')}`]),
    ...(outputs === 0 ? [] : [`- ${count(outputs, 'output')}, word for word: ${askFor(more, 'outputs')}`]),
  ];
  const artefacts = new Set(state.artefacts.map(oneLine));
  return {
    name: 'kept',
    title: 'KEPT',
    ask: 'outputs',
    total: lines.length + artefacts.size,
    first: firstRound.kept,
    items: (function* () {
      yield* lines;
      for (const path of artefacts) yield firstWithin(`- artefact ${path}`, item);
    })(),
  };
}
