import { ended, type State } from '../machine/index.ts';
import { portable, type Refused, type Runtime } from '../runtime/index.ts';

/**
 * The run that a call without a handle means where the project alone does not tell: the only live one that this
 * session has worked on; with `over`, where nothing is live, the last one that ended here.
 */
export async function meantRun(
  { engine, project }: Runtime,
  { code }: Refused,
  { session, over }: { session: string; over: boolean },
): Promise<string | undefined> {
  const several = code === 'several_runs';
  if (!several && !(over && code === 'no_run')) return undefined;
  const here = portable(project.worktree, project.root);
  const isMine = ({ sessions }: State): boolean =>
    Object.hasOwn(sessions, session) ||
    (!several && Object.values(sessions).some(({ worktree }) => worktree === here));
  const mine = (await engine.runs()).flatMap(({ run, state }) =>
    state && ended(state) !== several && isMine(state) ? [{ run, at: state.updatedAt }] : [],
  );
  if (several && mine.length > 1) return undefined;
  return mine.sort((one, other) => other.at - one.at)[0]?.run;
}
