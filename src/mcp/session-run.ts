import { ended, type State } from '../machine/index.ts';
import type { Refused } from '../runtime/index.ts';
import { sameWorktree } from '../workspace/index.ts';
import type { ToolRuntime } from './tool-runtime.ts';

/**
 * The run that a call without a handle means where the project alone does not tell: the only live one that this
 * session has worked on; with `over`, where nothing is live, the last one that ended here (`repeat`: in this session).
 */
export async function meantRun(
  { tree, runs }: ToolRuntime,
  { code }: Refused,
  { session, over }: { session: string; over: 'any' | 'repeat' | undefined },
): Promise<string | undefined> {
  const several = code === 'several_runs';
  if (!several && !(over !== undefined && code === 'no_run')) return undefined;
  const isMine = ({ sessions }: State): boolean =>
    Object.hasOwn(sessions, session) ||
    (!several &&
      over === 'any' &&
      tree !== undefined &&
      Object.values(sessions).some((each) => isHere(each, tree)));
  const mine = (await runs()).flatMap(({ run, state }) =>
    state && ended(state) !== several && isMine(state) ? [{ run, at: state.updatedAt }] : [],
  );
  if (several && mine.length > 1) return undefined;
  return mine.sort((one, other) => other.at - one.at)[0]?.run;
}

const isHere = ({ worktree }: State['sessions'][string], { here }: { here: string }): boolean =>
  worktree !== undefined && sameWorktree(worktree, here);
