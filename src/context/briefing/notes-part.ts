import { type NoteKind, noteLine } from '../../machine/index.ts';
import { oneLine, sectionPointer } from './bounded-text.ts';
import type { WholePart } from './briefing-part.ts';
import type { BriefingSource } from './briefing-source.ts';
import { bounds } from './budget-bounds.ts';
import { feedbackLines } from './feedback.ts';
import type { SeenLines } from './seen-lines.ts';
import { costOf, fits, sum, type TextSize } from './text-size.ts';

const lasting: readonly NoteKind[] = ['decision', 'rejection', 'correction'];

/** Decisions, rejections, corrections and review feedback, verbatim. */
export function notesPart(source: BriefingSource, seen: SeenLines): WholePart {
  const text = [...feedbackLines(source, seen), ...noteLines(source, bounds.notes, seen)].join('\n');
  return { name: 'notes', text };
}

/** Notes with the same text become one line with all their names. */
export function noteLines({ state, more }: BriefingSource, room: TextSize, seen: SeenLines): string[] {
  const byText = new Map<string, { kind: NoteKind; names: string[] }>();
  for (const { kind, id, key, text } of state.notes) {
    if (!lasting.includes(kind)) continue;
    const line = oneLine(text);
    const existing = byText.get(line);
    if (existing) existing.names.push(`${kind} ${oneLine(key ?? id)}`);
    else byText.set(line, { kind, names: [oneLine(key ?? id)] });
  }
  const lines = [...byText].map(([text, { kind, names }]) => ({
    text,
    line: noteLine({ kind, id: names.join(', '), text }),
  }));
  const kept = newestWithin(lines, room, `- ${lines.length} more: ${sectionPointer(more, 'notes')}`);
  for (const { text } of kept) seen.add(text);
  const left = lines.length - kept.length;
  const pointers = left === 0 ? [] : [`- ${left} more: ${sectionPointer(more, 'notes')}`];
  return [...kept.map(({ line }) => line), ...pointers];
}

/** Drops the oldest notes. Needed only after redaction made notes longer, or for journals of versions without the limit. */
function newestWithin<T extends { line: string }>(lines: T[], room: TextSize, pointer: string): T[] {
  if (fits(costOf(lines.map(({ line }) => line).join('\n')), room)) return lines;
  let spent = costOf(pointer);
  const older = lines.findLastIndex(({ line }) => {
    spent = sum(spent, costOf(line));
    return !fits(spent, room);
  });
  return lines.slice(older + 1);
}
