import type { Boundary } from './state.ts';

/** A new session or a subagent released a required boundary: every other session must reset its context first. */
export const isFenced = (
  { state, policy, by, how, session }: Boundary,
  caller: string | undefined,
): boolean =>
  state === 'released' &&
  policy === 'require' &&
  (by === 'new_session' || by === 'subagent') &&
  how === 'reset' &&
  session !== undefined &&
  caller !== undefined &&
  caller !== session;
