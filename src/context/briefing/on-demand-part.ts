import { opening } from '../../machine/index.ts';
import { count, oneLine, sectionPointer } from './bounded-text.ts';
import type { ListedPart } from './briefing-part.ts';
import type { BriefingSource } from './briefing-source.ts';
import { maxItem } from './budget-bounds.ts';
import { truncate } from './text-size.ts';

/** Points to the to-do list and full outputs, and names the files that the run produced. */
export function onDemandPart({ state, more, todo }: BriefingSource): ListedPart {
  const outputs = Object.keys(state.outputs).length;
  const list = todo ?? (state.todo === undefined ? undefined : opening(state.todo));
  const lines = [
    ...(list === undefined ? [] : [`- the to-do list: ${sectionPointer(more, 'todo')}`]),
    ...(outputs === 0 ? [] : [`- ${count(outputs, 'output')}, verbatim: ${sectionPointer(more, 'outputs')}`]),
  ];
  const artifacts = new Set(state.artefacts.map(oneLine));
  return {
    name: 'kept',
    total: lines.length + artifacts.size,
    items: (function* () {
      yield* lines;
      for (const path of artifacts) yield truncate(`- artifact ${path}`, maxItem);
    })(),
  };
}
