import type { Need } from '../api-types.ts';

/** What the person does about it. */
export const needVerb: Record<Need['kind'], string> = {
  review: 'Review',
  question: 'Answer',
  decision: 'Decide',
  budget: 'Extend',
  merge: 'Decide',
  queue: 'Fix',
  context: 'Clear',
  pause: 'Continue',
};

/** What waits, as a title without the name of the step. */
export const needText: Record<Need['kind'], string> = {
  review: 'waits for your review',
  question: 'waits for your answer',
  decision: 'is blocked',
  budget: 'has used up its budget',
  merge: 'could not be merged',
  queue: 'cannot merge',
  context: 'waits for a fresh context',
  pause: 'is paused',
};

/** `context` carries only the action that was asked for. */
export const needDetail = ({ kind, what }: Need): string =>
  kind === 'context' ? `Type /${what} in the agent's session.` : what;

/** The same things in the terminal, for a page that only reads. */
export function needCommand({ kind, at, task }: Need, run: string): string {
  const position = at === undefined ? '' : ` --at ${at}`;
  const command = {
    review: `approve${position}`,
    question: 'answer "your words"',
    decision: `reject "your words"${position}`,
    budget: 'status',
    merge: `merge --again ${task ?? 'TASK'}`,
    queue: 'status',
    context: `proceed${position}`,
    pause: 'unpause',
  }[kind];
  return `stepfast ${command} --run ${run}`;
}

export const runHref = (run: string): string => `/runs/${encodeURIComponent(run)}`;

export const reviewHref = (run: string, at: string): string =>
  `${runHref(run)}/review/${encodeURIComponent(at)}`;

/** Where a person decides: the review page, or the run with a dialog open. */
export function needHref(run: string, need: Need): string {
  if (need.kind === 'review' && need.at !== undefined) return reviewHref(run, need.at);
  return `${runHref(run)}?decide=${encodeURIComponent(needKey(need))}`;
}

/** Tells the needs of one run apart. */
export const needKey = ({ kind, at, task }: Need): string => [kind, at ?? task].filter(Boolean).join(':');
