import { type NoteKind, noteLine } from '../../machine/index.ts';
import { bounds } from './bounds.ts';
import { feedbackLines } from './feedback.ts';
import { costOf, fits, type Measure } from './measure.ts';
import type { WholePart } from './part.ts';
import type { Said } from './said.ts';
import type { BriefingSource } from './source.ts';
import { askFor, oneLine } from './words.ts';

const lasting: readonly NoteKind[] = ['decision', 'rejection', 'correction'];

/** Decisions, rejections, corrections, and what reviewers said: word for word. */
export function notesPart(source: BriefingSource, said: Said): WholePart {
  const text = [...feedbackLines(source, said), ...noteLines(source, bounds.notes, said)].join('\n');
  return { name: 'notes', title: 'DECISIONS AND FEEDBACK', ask: 'notes', text };
}

/** A text that was noted more than once is told once, under all its names. */
export function noteLines({ state, more }: BriefingSource, room: Measure, said: Said): string[] {
  const byText = new Map<string, { kind: NoteKind; names: string[] }>();
  for (const { kind, id, key, text } of state.notes) {
    if (!lasting.includes(kind)) continue;
    const line = oneLine(text);
    const known = byText.get(line);
    if (known) known.names.push(`${kind} ${key ?? id}`);
    else byText.set(line, { kind, names: [key ?? id] });
  }
  const lines: string[] = [];
  for (const [text, { kind, names }] of byText) {
    lines.push(noteLine({ kind, id: names.join(', '), text }));
    said.add(text);
  }
  // The machine lets no more be noted than fits; a run of an older version may hold more.
  while (lines.length > 0 && !fits(costOf(lines.join('\n')), room)) lines.pop();
  const left = byText.size - lines.length;
  return left === 0 ? lines : [...lines, `- ${left} more: ${askFor(more, 'notes')}`];
}
