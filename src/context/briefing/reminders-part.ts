import { keyReminders, ownVariables, parseHandle } from '../../machine/index.ts';
import { redactNamed } from '../secrets/redact.ts';
import { oneLine } from './bounded-text.ts';
import type { ListedPart } from './briefing-part.ts';
import type { BriefingSource } from './briefing-source.ts';
import { maxItem, maxPhrase } from './budget-bounds.ts';
import { currentPivot } from './feedback.ts';
import { lastAnswer } from './instructions-part.ts';
import type { SeenLines } from './seen-lines.ts';
import { truncate, truncateLine } from './text-size.ts';

/** The workflow's reminders and those noted since, without lines that the briefing already has. */
export function remindersPart(
  { definition, state }: BriefingSource,
  seen: SeenLines,
  most = maxItem,
): ListedPart {
  const lines = keyReminders(definition, state)
    .map(oneLine)
    .filter((line) => line !== '' && seen.first(line))
    .map((line) => truncate(`- ${line}`, most));
  return {
    name: 'reminders',
    total: lines.length,
    items: lines,
  };
}

/** After a pivot the feedback part shows the inputs instead. */
export function variablesPart(
  { definition, state }: BriefingSource,
  { most = maxItem, all = false } = {},
): ListedPart {
  const inputs = !all && currentPivot(state) ? {} : state.inputs;
  const variables = Object.entries({ ...definition.variables, ...ownVariables(state) });
  const named = [
    ...Object.entries(inputs).map(([name, value]) => [`input ${name}`, value] as const),
    ...variables,
  ];
  return {
    name: 'variables',
    total: named.length,
    items: (function* () {
      for (const [name, value] of named)
        yield truncate(`- ${oneLine(name)}: ${oneLine(redactNamed(name, String(value)))}`, most);
    })(),
  };
}

/** Open questions first, then the newest. The instructions part shows the answer to this position's own question. */
export function questionsPart(source: BriefingSource, { quote = maxPhrase, all = false } = {}): ListedPart {
  const { state, cursor } = source;
  const here = lastAnswer(state, cursor)?.id;
  const waiting = cursor?.waiting?.kind === 'question' ? cursor.waiting.id : undefined;
  const asked = state.questions.filter(({ id }) => all || (id !== here && id !== waiting)).reverse();
  const open = asked.filter(({ answer }) => answer === undefined);
  const answered = asked.filter(({ answer }) => answer !== undefined);
  return {
    name: 'questions',
    total: asked.length,
    items: (function* () {
      for (const { at, text, answer } of [...open, ...answered]) {
        const question = truncateLine(text, quote);
        const reply = answer === undefined ? 'no answer yet' : `"${truncateLine(answer, quote)}"`;
        yield `- ${truncateLine(parseHandle(at)?.path ?? at, maxPhrase)} asked: "${question}": ${reply}`;
      }
    })(),
  };
}
