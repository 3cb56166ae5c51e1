import { escapeHeadings, oneLine } from '../../src/context/briefing/bounded-text.ts';
import type { Briefing, BriefingSource } from '../../src/context/index.ts';
import { estimateTokens, formatHandle, instructionsFor } from '../../src/machine/index.ts';

const lasting = ['decision', 'rejection', 'correction'];
/** Texts that the first four sections of a briefing must show in full, and do not. */
export function missingIn({ id, sections }: Briefing, source: BriefingSource): string[] {
  const { definition, state, cursor, values, next, session, worktree } = source;
  const textOf = (name: string): string => oneLine(sections.find((each) => each.name === name)?.text ?? '');
  const missing: string[] = [];
  const must = (name: string, what: string): void => {
    if (!textOf(name).includes(oneLine(what))) missing.push(`${name}: ${what.slice(0, 80)}`);
  };
  must('run', id);
  must('run', state.run);
  if (estimateTokens(next) < 250 && next.length < 800) must('action', escapeHeadings(next));
  if (cursor) {
    const at = formatHandle(state.run, cursor.path, cursor.visit);
    if (!next.includes(at)) must('run', at);
    const instructions = instructionsFor(definition, state, cursor, values, session);
    if (!textOf('instructions').includes('Truncated from'))
      must('instructions', escapeHeadings(instructions));
  }
  if (worktree !== undefined && !textOf('run').includes('Path of the task files:')) must('run', worktree);
  for (const { kind, text } of state.notes) if (lasting.includes(kind)) must('notes', text);
  const pivot = state.pivots.at(-1);
  if (pivot && cursor?.feedback === undefined) must('notes', `**[${pivot.tag}]:**`);
  if (cursor?.feedback !== undefined) must('notes', '**[REVIEW_FEEDBACK]:**');
  return missing;
}
