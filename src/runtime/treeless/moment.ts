import type { Circumstances } from '../../engine/index.ts';
import type { Caller, SessionFacts } from '../../machine/index.ts';
import type { Who } from '../call-context.ts';

/** What a command is told of its moment where no tree is. */
export interface Moment {
  clock(): number;
  /** Always an agent's: what a person decides comes another way, whoever's token it is. */
  caller(who: Who): Caller;
  /** Binds the session with its first call. `{project_root}` stays a name. */
  around(who: Who): Circumstances;
}

/** No worktree of anybody, so that nobody's checkout takes the run for its own. */
export const elsewhere = '{elsewhere}';

export function createMoment(clock: () => number): Moment {
  return {
    clock,
    caller: ({ session }) => ({ now: clock(), actor: { kind: 'agent' }, session }),
    around({ session, host }) {
      if (session === undefined) return {};
      const facts: SessionFacts = {
        worktree: elsewhere,
        environment: { cwd: 'elsewhere' },
        ...(host === undefined ? {} : { host }),
      };
      return { facts };
    },
  };
}
