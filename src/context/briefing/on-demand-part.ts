import { opening } from '../../machine/index.ts';
import { count, oneLine, sectionPointer } from './bounded-text.ts';
import type { ListedPart } from './briefing-part.ts';
import type { BriefingSource } from './briefing-source.ts';
import { firstShare, maxItem } from './budget-bounds.ts';
import { truncate } from './text-size.ts';

/** The to-do list and whole outputs are told when they are asked for; files that the run made are named. */
export function onDemandPart({ state, more, todo }: BriefingSource): ListedPart {
  const outputs = Object.keys(state.outputs).length;
  const list = todo ?? (state.todo === undefined ? undefined : opening(state.todo));
  const lines = [
    ...(list === undefined ? [] : [`- the to-do list: ${sectionPointer(more, 'todo')}`]),
    ...(outputs === 0
      ? []
      : [`- ${count(outputs, 'output')}, word for word: ${sectionPointer(more, 'outputs')}`]),
  ];
  const artefacts = new Set(state.artefacts.map(oneLine));
  return {
    name: 'kept',
    title: 'KEPT',
    ask: 'outputs',
    total: lines.length + artefacts.size,
    first: firstShare.kept,
    items: (function* () {
      yield* lines;
      for (const path of artefacts) yield truncate(`- artefact ${path}`, maxItem);
    })(),
  };
}
