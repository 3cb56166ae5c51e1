import type { Need } from '../api-types.ts';

/** `context` carries only the action that was asked for. */
export const needDetail = ({ kind, what }: Need): string =>
  kind === 'context' ? `Type /${what} in the agent's session.` : what;

export const runHref = (run: string): string => `/runs/${encodeURIComponent(run)}`;

export const reviewHref = (run: string, at: string): string =>
  `${runHref(run)}/review/${encodeURIComponent(at)}`;

/** Where a person decides: the review page, or the run with a dialog open. */
export function needHref(run: string, need: Need): string {
  if (need.kind === 'review' && need.at !== undefined) return reviewHref(run, need.at);
  return `${runHref(run)}?decide=${encodeURIComponent(needKey(need))}`;
}

/** From a list. A page cannot clear a context, so the run tells what to do instead. */
export const needPlace = (run: string, need: Need): string =>
  need.kind === 'context' ? runHref(run) : needHref(run, need);

/** Tells the needs of one run apart. */
export const needKey = ({ kind, at, task, question, unit }: Need): string =>
  [kind, at ?? task, question ?? unit].filter(Boolean).join(':');
