import { ended, type State } from '../machine/index.ts';
import type { Refused, Runtime } from '../runtime/index.ts';
import { portable, sameWorktree } from '../workspace/index.ts';

/**
 * The run of a call without a handle if the project has several: the only live one that this session has worked on.
 * With `over` and no live run, the last one that ended here (`repeat`: in this session).
 */
export async function meantRun(
  { workspace, runs }: Runtime,
  { code }: Refused,
  { session, over }: { session: string; over: 'any' | 'repeat' | undefined },
): Promise<string | undefined> {
  const several = code === 'several_runs';
  if (!several && !(over !== undefined && code === 'no_run')) return undefined;
  const { project, hasFiles } = workspace;
  const here = portable(project.worktree, project.root);
  const isMine = ({ sessions }: State): boolean =>
    Object.hasOwn(sessions, session) ||
    (!several &&
      over === 'any' &&
      hasFiles &&
      Object.values(sessions).some(({ worktree }) => worktree !== undefined && sameWorktree(worktree, here)));
  const mine = (await runs()).flatMap(({ run, state }) =>
    state && ended(state) !== several && isMine(state) ? [{ run, at: state.updatedAt }] : [],
  );
  if (several && mine.length > 1) return undefined;
  return mine.sort((one, other) => other.at - one.at)[0]?.run;
}
