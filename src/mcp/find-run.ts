import { ended } from '../machine/index.ts';
import type { Refused, Runtime } from '../runtime/index.ts';

/**
 * The run that a call without a handle means where the project alone does not tell: the only live one that this
 * session has worked on; with `over`, where nothing is live, the one that ended last.
 */
export async function meantRun(
  runtime: Runtime,
  refused: Refused,
  { session, over }: { session: string; over: boolean },
): Promise<string | undefined> {
  if (refused.code !== 'several_runs' && !(over && refused.code === 'no_run')) return undefined;
  const runs = (await runtime.engine.runs()).flatMap(({ run, state }) => (state ? [{ run, state }] : []));
  if (refused.code === 'several_runs') {
    const mine = runs.filter(({ state }) => !ended(state) && Object.hasOwn(state.sessions, session));
    return mine.length === 1 ? mine[0]?.run : undefined;
  }
  const [last] = runs.sort((one, other) => other.state.updatedAt - one.state.updatedAt);
  return last?.run;
}
