import { type Cursor, instructionsFor, parseHandle, type State } from '../../machine/index.ts';
import { escapeHeadings, oneLine, sectionPointer } from './bounded-text.ts';
import type { WholePart } from './briefing-part.ts';
import type { BriefingSource } from './briefing-source.ts';
import { bounds, maxPhrase, workBudget } from './budget-bounds.ts';
import type { SeenLines } from './seen-lines.ts';
import { costOf, fits, smaller, subtract, type TextSize, truncate } from './text-size.ts';

/** The instructions and the last answer to a question of this position. `notes` is the size of the notes part. */
export function instructionsPart(source: BriefingSource, notes: TextSize, seen: SeenLines): WholePart {
  const room = subtract(workBudget, notes);
  const answer = answerLine(
    source,
    smaller(bounds.answers, { ...room, tokens: Math.floor(room.tokens / 2) }),
  );
  const left = answer === '' ? room : subtract(room, costOf(answer));
  const text = withinRoom(instructionsIn(source), smaller(left, bounds.instructions), source.more);
  seen.add(text);
  return {
    name: 'instructions',
    text: [text, answer].filter((part) => part !== '').join('\n'),
  };
}

/** The full instructions, or a placeholder while the machine withholds them until a context reset. */
export function instructionsIn({ definition, state, cursor, values, session }: BriefingSource): string {
  if (!cursor) return '';
  const text = escapeHeadings(instructionsFor(definition, state, cursor, values, session));
  if (text === '') return cursor.boundary ? 'Shown once the fresh context is confirmed.' : '';
  return text;
}

function withinRoom(text: string, room: TextSize, more: string): string {
  if (fits(costOf(text), room)) return text;
  const pointer = `Truncated from ${text.length} characters; in full: ${sectionPointer(more, 'instructions')}.`;
  return `${truncate(text, subtract(room, costOf(pointer)))}\n${pointer}`;
}

/** The last answered question of this position. */
export function lastAnswer(state: State, cursor: Cursor | undefined): State['questions'][number] | undefined {
  if (!cursor) return undefined;
  return state.questions.findLast(
    ({ at, answer }) => answer !== undefined && parseHandle(at)?.path === cursor.path,
  );
}

function answerLine({ state, cursor, more }: BriefingSource, room: TextSize): string {
  const found = lastAnswer(state, cursor);
  if (!found) return '';
  const question = truncate(
    oneLine(found.text),
    smaller(maxPhrase, { ...room, tokens: Math.floor(room.tokens / 3) }),
  );
  const line = `Question asked here: "${question}" Answer: "${oneLine(found.answer ?? '')}"`;
  if (fits(costOf(line), room)) return line;
  const pointer = ` (in full: ${sectionPointer(more, 'notes')})`;
  return `${truncate(line, subtract(room, costOf(pointer)))}${pointer}`;
}
