import { type Cursor, instructionsFor, parseHandle, type State } from '../../machine/index.ts';
import { escapeHeadings, oneLine, sectionPointer } from './bounded-text.ts';
import type { WholePart } from './briefing-part.ts';
import type { BriefingSource } from './briefing-source.ts';
import { bounds, maxPhrase, workBudget } from './budget-bounds.ts';
import type { SeenLines } from './seen-lines.ts';
import { costOf, fits, smaller, subtract, type TextSize, truncate } from './text-size.ts';

/** What the position asks for, and what it was told when it last asked. `beside` is what the notes cost. */
export function instructionsPart(source: BriefingSource, beside: TextSize, said: SeenLines): WholePart {
  const room = subtract(workBudget, beside);
  const answer = answerLine(
    source,
    smaller(bounds.answers, { ...room, tokens: Math.floor(room.tokens / 2) }),
  );
  const left = answer === '' ? room : subtract(room, costOf(answer));
  const text = withinRoom(instructionsIn(source), smaller(left, bounds.instructions), source.more);
  said.add(text);
  return {
    name: 'instructions',
    title: 'INSTRUCTIONS',
    ask: 'instructions',
    text: [text, answer].filter((part) => part !== '').join('\n'),
  };
}

/** Whole, as far as the machine lets the position know them. */
export function instructionsIn({ definition, state, cursor, values, session }: BriefingSource): string {
  if (!cursor) return '';
  const text = escapeHeadings(instructionsFor(definition, state, cursor, values, session));
  if (text === '') return cursor.boundary ? 'They are told when the fresh context has been seen.' : '';
  return text;
}

function withinRoom(text: string, room: TextSize, more: string): string {
  if (fits(costOf(text), room)) return text;
  const pointer = `This is the opening of ${text.length} characters; in full: ${sectionPointer(more, 'instructions')}.`;
  return `${truncate(text, subtract(room, costOf(pointer)))}\n${pointer}`;
}

/** The last answer that this position was given. */
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
  const line = `This position asked: "${question}" It was answered: "${oneLine(found.answer ?? '')}"`;
  if (fits(costOf(line), room)) return line;
  const pointer = ` (in full: ${sectionPointer(more, 'notes')})`;
  return `${truncate(line, subtract(room, costOf(pointer)))}${pointer}`;
}
