import { type Action, exhaustedReason, type Status, type WaitingFor } from '../machine/index.ts';
import { usedUpText } from './budget.ts';
import { reportedText } from './gate-results.ts';

/** Follows `review`: what it is about, where that is not the work, and why it was escalated. */
export const reviewDetails = (review: Extract<WaitingFor, { for: 'review' }>): string => {
  const { leaves, exhausted, escalated, author, reportedBy } = review;
  const what = leaves === undefined ? '' : ` of leaving '${leaves}' without tasks`;
  const unheld = exhausted === undefined ? '' : `: ${exhaustedText(exhausted)}`;
  const work = author === undefined || leaves !== undefined ? '' : ` of ${author}'s work`;
  const said = reportedBy ? `, with checks ${reportedText}` : '';
  return `${what}${work}${unheld}${said}${escalated === undefined ? '' : `, escalated: ${escalated}`}`;
};

/** What a `when` looked at: `inputs.level is "minor"`. */
export const lookedAtText = (values: Readonly<Record<string, string>>): string =>
  Object.entries(values)
    .map(([path, value]) => `${path} is ${value}`)
    .join(', ');

/** Of a ralph step whose `until` does not hold. */
export const exhaustedText = (step: string): string => exhaustedReason(step);

/** The label of a ralph step that ended without proof. */
export const unprovenText = (gates: readonly string[]): string => `unproven: ${gates.join(', ')} never held`;

/** The gates of `until` after an iteration. `last`: no other one follows by itself. */
export const untilRedText = (gates: readonly string[], last = false): string =>
  `until does not hold${last ? '' : ' yet'}: ${gates.join(', ')}`;

export const redUntilText = (gates: number): string =>
  `${gates === 1 ? 'this' : 'these'} did not hold after the previous iteration`;

/** What a run or a position waits for, as a phrase. */
export function waitingText(waiting: WaitingFor): string {
  switch (waiting.for) {
    case 'review':
      return `the review${reviewDetails(waiting)}`;
    case 'question':
      return waiting.question;
    case 'blocked':
      return waiting.reason;
    case 'budget': {
      const { escalated } = waiting;
      return `${usedUpText(waiting)}${escalated === undefined ? '' : `; escalated: ${escalated}`}`;
    }
  }
}

export type StatusText<S extends Status = Status> = Omit<S, 'waiting'> & {
  waiting?: WaitingFor & { what: string };
  next: string;
};

/** A status with its sentences. A status from an older journal has no action and is shown as stored. */
export function statusText<S extends Status>(status: S, render: (action: Action) => string): StatusText<S> {
  const { waiting, ...rest } = status;
  const stored = 'next' in status && typeof status.next === 'string' ? status.next : '';
  return {
    ...rest,
    ...(waiting
      ? { waiting: { ...waiting, what: 'what' in waiting ? String(waiting.what) : waitingText(waiting) } }
      : {}),
    // Older journals hold replies without an action.
    next: (status.action as Action | undefined) ? render(status.action) : stored,
  };
}
