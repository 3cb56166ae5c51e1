import type { Boundary } from './state.ts';

/** Another session or a subagent took a required boundary over: only that one goes on, or one that is fresh after it. */
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
