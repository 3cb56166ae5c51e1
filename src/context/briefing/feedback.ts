import { opening, type State } from '../../machine/index.ts';
import { bounds, phrase } from './bounds.ts';
import { costOf, firstWithin, fits, least, minus } from './measure.ts';
import { createPurse } from './purse.ts';
import type { Said } from './said.ts';
import type { BriefingSource } from './source.ts';
import { age, askFor, clean, count, oneLine } from './words.ts';

type Pivot = State['pivots'][number];

interface Feedback {
  tag: string;
  text: string;
}

/** What stands open comes first: an escalation, then what a reviewer said of this visit, then the last pivot. */
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

/** Under their tags, the first whole; after a pivot also what it kept. */
export function feedbackLines(source: BriefingSource, said: Said): string[] {
  const { state, more } = source;
  const full = `Feedback in full: ${askFor(more, 'notes')}.`;
  const further = createPurse(minus(bounds.furtherFeedback, costOf(full)));
  const [first, ...others] = feedbackIn(source);
  const lines: string[] = [];
  if (first) {
    const line = tagged(first);
    const whole = fits(costOf(line), bounds.feedback);
    lines.push(...(whole ? [line] : [firstWithin(line, minus(bounds.feedback, costOf(full))), full]));
    said.add(first.text);
  }
  for (const feedback of others) {
    if (said.first(feedback.text)) lines.push(...further.take(tagged(feedback)));
  }
  if (further.cut() && !lines.includes(full)) lines.push(full);
  const pivot = state.pivots.at(-1);
  return pivot ? [...lines, ...pivotLines(source, pivot, said)] : lines;
}

export const tagged = ({ tag, text }: Feedback): string =>
  `**[${tag}]:** "${clean(text).replaceAll('\n', '\n  ')}"`;

/** Story and plan, until the step that the run went back to is over. */
function pivotLines({ state, now, more }: BriefingSource, pivot: Pivot, said: Said): string[] {
  const purse = createPurse(bounds.pivot);
  const earlier = state.pivots.length - 1;
  const before = earlier === 0 ? '' : `; ${count(earlier, 'pivot')} before it: ${askFor(more, 'notes')}`;
  const back = `The run went back from '${pivot.from}' to '${pivot.to}' ${age(pivot.now, now)}${before}.`;
  const lines = purse.take(`Work done before this pivot may have to be reverted. ${back}`);
  if (state.step !== pivot.to) return lines;
  const inputs = Object.entries(state.inputs).map(([name, value]) => `${name} = ${oneLine(String(value))}`);
  if (inputs.length > 0) lines.push(...purse.take(`The story's inputs: ${inputs.join(', ')}`, phrase));
  if (pivot.plan === undefined) return lines;
  const plan = oneLine(opening(pivot.plan));
  const pointer = ` (in full: ${askFor(more, 'notes')})`;
  const shown = firstWithin(
    plan,
    minus(least(purse.left(), phrase), costOf(`The original plan: ""${pointer}`)),
  );
  if (said.first(plan)) lines.push(`The original plan: "${shown}"${shown === plan ? '' : pointer}`);
  return lines;
}
