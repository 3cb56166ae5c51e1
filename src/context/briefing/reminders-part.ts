import { parseHandle } from '../../machine/index.ts';
import { redactNamed } from '../secrets/redact.ts';
import { oneLine } from './bounded-text.ts';
import { firstRound, item, phrase } from './budget-bounds.ts';
import { pivotHere } from './feedback.ts';
import { answeredHere } from './instructions-part.ts';
import { firstWithin, lineWithin } from './text-size.ts';
import type { ListedPart } from './briefing-part.ts';
import type { Said } from './seen-lines.ts';
import type { BriefingSource } from './briefing-source.ts';

/** The workflow's reminders and those noted since; what the briefing says elsewhere is left out. */
export function remindersPart({ definition, state }: BriefingSource, said: Said, most = item): ListedPart {
  const noted = state.notes.filter(({ kind }) => kind === 'reminder').map(({ text }) => text);
  const lines = [...(definition.key_reminders ?? []), ...noted]
    .map(oneLine)
    .filter((line) => line !== '' && said.first(line))
    .map((line) => firstWithin(`- ${line}`, most));
  return {
    name: 'reminders',
    title: 'KEY REMINDERS',
    ask: 'notes',
    total: lines.length,
    first: firstRound.reminders,
    items: lines,
  };
}

/** After a pivot the inputs stand with the story. */
export function variablesPart(
  { definition, state }: BriefingSource,
  { most = item, all = false } = {},
): ListedPart {
  const inputs = !all && pivotHere(state) ? {} : state.inputs;
  const variables = Object.entries({ ...definition.variables, ...state.variables });
  const named = [
    ...Object.entries(inputs).map(([name, value]) => [`input ${name}`, value] as const),
    ...variables,
  ];
  return {
    name: 'variables',
    title: 'CONTEXT VARIABLES',
    ask: 'notes',
    total: named.length,
    first: firstRound.variables,
    items: (function* () {
      for (const [name, value] of named)
        yield firstWithin(`- ${oneLine(name)}: ${oneLine(redactNamed(name, String(value)))}`, most);
    })(),
  };
}

/** Open ones first, then the newest; the answer that this position was given stands with its instructions. */
export function questionsPart(source: BriefingSource, { quote = phrase, all = false } = {}): ListedPart {
  const { state, cursor } = source;
  const here = answeredHere(state, cursor)?.id;
  const waiting = cursor?.waiting?.kind === 'question' ? cursor.waiting.id : undefined;
  const asked = state.questions.filter(({ id }) => all || (id !== here && id !== waiting)).reverse();
  const open = asked.filter(({ answer }) => answer === undefined);
  const answered = asked.filter(({ answer }) => answer !== undefined);
  return {
    name: 'questions',
    title: 'QUESTIONS AND ANSWERS',
    ask: 'notes',
    total: asked.length,
    first: firstRound.questions,
    items: (function* () {
      for (const { at, text, answer } of [...open, ...answered]) {
        const question = lineWithin(text, quote);
        const reply = answer === undefined ? 'no answer yet' : `"${lineWithin(answer, quote)}"`;
        yield `- ${lineWithin(parseHandle(at)?.path ?? at, phrase)} asked: "${question}": ${reply}`;
      }
    })(),
  };
}
