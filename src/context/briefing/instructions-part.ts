import { type Cursor, instructionsFor, parseHandle, type State } from '../../machine/index.ts';
import { askFor, oneLine, passage } from './bounded-text.ts';
import { bounds, phrase, workRoom } from './budget-bounds.ts';
import { costOf, firstWithin, fits, least, type Measure, minus } from './text-size.ts';
import type { WholePart } from './briefing-part.ts';
import type { Said } from './seen-lines.ts';
import type { BriefingSource } from './briefing-source.ts';

/** What the position asks for, and what it was told when it last asked. `beside` is what the notes cost. */
export function instructionsPart(source: BriefingSource, beside: Measure, said: Said): WholePart {
  const room = minus(workRoom, beside);
  const answer = answerLine(source, least(bounds.answers, { ...room, tokens: Math.floor(room.tokens / 2) }));
  const left = answer === '' ? room : minus(room, costOf(answer));
  const text = withinRoom(instructionsIn(source), least(left, bounds.instructions), source.more);
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
  const text = passage(instructionsFor(definition, state, cursor, values, session));
  if (text === '') return cursor.boundary ? 'They are told when the fresh context has been seen.' : '';
  return text;
}

function withinRoom(text: string, room: Measure, more: string): string {
  if (fits(costOf(text), room)) return text;
  const pointer = `This is the opening of ${text.length} characters; in full: ${askFor(more, 'instructions')}.`;
  return `${firstWithin(text, minus(room, costOf(pointer)))}\n${pointer}`;
}

/** The last answer that this position was given. */
export function answeredHere(
  state: State,
  cursor: Cursor | undefined,
): State['questions'][number] | undefined {
  if (!cursor) return undefined;
  return state.questions.findLast(
    ({ at, answer }) => answer !== undefined && parseHandle(at)?.path === cursor.path,
  );
}

function answerLine({ state, cursor, more }: BriefingSource, room: Measure): string {
  const found = answeredHere(state, cursor);
  if (!found) return '';
  const question = firstWithin(
    oneLine(found.text),
    least(phrase, { ...room, tokens: Math.floor(room.tokens / 3) }),
  );
  const line = `This position asked: "${question}" It was answered: "${oneLine(found.answer ?? '')}"`;
  if (fits(costOf(line), room)) return line;
  const pointer = ` (in full: ${askFor(more, 'notes')})`;
  return `${firstWithin(line, minus(room, costOf(pointer)))}${pointer}`;
}
