import { ended, opening, type State } from '../../machine/index.ts';
import { age, count, escapeHeadings, oneLine, sectionPointer } from './bounded-text.ts';
import type { BriefingSource } from './briefing-source.ts';
import { bounds, maxPhrase } from './budget-bounds.ts';
import type { SeenLines } from './seen-lines.ts';
import { costOf, fits, smaller, subtract, truncate } from './text-size.ts';
import { createTokenBudget } from './token-budget.ts';

type Pivot = State['pivots'][number];

interface Feedback {
  tag: string;
  text: string;
}

/** Most urgent first: an escalation, then the review of this visit, then the last pivot. */
export function feedbackIn({ state, cursor }: BriefingSource): Feedback[] {
  const waiting = cursor?.waiting;
  const escalated = waiting?.kind === 'review' ? waiting.escalated : undefined;
  const pivot = state.pivots.at(-1);
  const all = [
    { tag: 'ESCALATED', text: escalated },
    { tag: 'BUDGET_ESCALATED', text: state.budget.escalated },
    { tag: 'REVIEW_FEEDBACK', text: cursor?.feedback },
    ...(pivot ? [{ tag: pivot.tag, text: pivot.feedback }] : []),
  ];
  return all.flatMap(({ tag, text }) => (text === undefined || text === '' ? [] : [{ tag, text }]));
}

/** Feedback under its tags; only the first is shown in full. After a pivot also its inputs and the replaced plan. */
export function feedbackLines(source: BriefingSource, seen: SeenLines): string[] {
  const { state, more } = source;
  const full = `Full feedback: ${sectionPointer(more, 'notes')}.`;
  const further = createTokenBudget(subtract(bounds.furtherFeedback, costOf(full)));
  const [first, ...others] = feedbackIn(source);
  const lines: string[] = [];
  if (first) {
    const line = tagged(first);
    const whole = fits(costOf(line), bounds.feedback);
    lines.push(...(whole ? [line] : [truncate(line, subtract(bounds.feedback, costOf(full))), full]));
    if (whole) seen.add(first.text);
  }
  for (const feedback of others) {
    if (seen.has(feedback.text)) continue;
    const line = tagged(feedback);
    const taken = further.take(line);
    if (taken[0] === line) seen.add(feedback.text);
    lines.push(...taken);
  }
  if (further.cut() && !lines.includes(full)) lines.push(full);
  const pivot = currentPivot(state);
  return pivot ? [...lines, ...pivotLines(source, pivot, seen)] : lines;
}

/** The pivot that led to the current step. */
export function currentPivot(state: State): Pivot | undefined {
  const pivot = state.pivots.at(-1);
  return pivot?.to === state.step && !ended(state) ? pivot : undefined;
}

export const tagged = ({ tag, text }: Feedback): string =>
  `**[${oneLine(tag)}]:** "${escapeHeadings(text).replaceAll('\n', '\n  ')}"`;

function pivotLines({ state, now, more }: BriefingSource, pivot: Pivot, seen: SeenLines): string[] {
  const budget = createTokenBudget(bounds.pivot);
  const earlier = state.pivots.length - 1;
  const before =
    earlier === 0 ? '' : `; ${count(earlier, 'pivot')} before it: ${sectionPointer(more, 'notes')}`;
  const back = `The run went back from '${oneLine(pivot.from)}' to '${oneLine(pivot.to)}' ${age(pivot.now, now)}${before}.`;
  const lines = budget.take(`Work done before this pivot may need to be reverted. ${back}`);
  const inputs = Object.entries(state.inputs).map(([name, value]) => oneLine(`${name} = ${value}`));
  if (inputs.length > 0) lines.push(...budget.take(`Story inputs: ${inputs.join(', ')}`, maxPhrase));
  if (pivot.plan === undefined) return lines;
  const plan = oneLine(opening(pivot.plan));
  const pointer = ` (in full: ${sectionPointer(more, 'notes')})`;
  const shown = truncate(
    plan,
    subtract(smaller(budget.left(), maxPhrase), costOf(`The original plan: ""${pointer}`)),
  );
  if (seen.first(shown)) lines.push(`The original plan: "${shown}"${shown === plan ? '' : pointer}`);
  return lines;
}
