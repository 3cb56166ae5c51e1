import { ended, type State } from '../machine/index.ts';
import { matchesRunName, type RunInfo } from '../store/index.ts';
import { sameWorktree } from '../workspace/index.ts';
import type { Refused } from './answer.ts';

const mostListed = 5;

/** Finds a run by its id or by its suffix, with which every handle begins. */
export function runNamed(ids: readonly string[], name: string, at?: string): { run: string } | Refused {
  const meant = ids.filter((run) => matchesRunName(run, name));
  const [only, second] = meant;
  if (only !== undefined && second === undefined) return { run: only };
  if (second !== undefined) return severalRuns(meant.map((run) => ({ run })));
  return noRunNamed(name, at);
}

export function noRunNamed(name: string, at?: string): Refused {
  return {
    code: 'no_run',
    params:
      at === undefined
        ? { why: 'unknown', name: name.slice(0, 80) }
        : { why: 'unknown_handle', at: at.slice(0, 80) },
  };
}

/** Chooses the only live run of this worktree. A call that changes nothing may also get the only live run of the project. */
export function onlyLiveRun(
  runs: readonly RunInfo[],
  worktree: string,
  changes: boolean,
): { run: string } | Refused {
  const live = runs.filter(({ state }) => state && !ended(state));
  const here = live.filter(({ state }) => state && worksHere(state, worktree));
  const candidates = here.length > 0 ? here : live;
  const [only, second] = candidates;
  if (!only) return noLiveRun(runs);
  if (!second && (here.length > 0 || !changes)) return { run: only.run };
  return severalRuns(
    candidates.map(({ run, state }) =>
      state?.summary === undefined ? { run } : { run, summary: state.summary },
    ),
  );
}

export const worksHere = (state: State, worktree: string): boolean =>
  isHere({ run: state.run, worktrees: worktreesOf(state) }, worktree);

/** The run was started or is worked on in this worktree, the worktree belongs to one of its tasks, or none is known. */
export const isHere = (
  { run, worktrees }: { run: string; worktrees: readonly string[] },
  worktree: string,
): boolean =>
  worktrees.length === 0 || worktrees.some((each) => sameWorktree(each, worktree)) || isOfTask(run, worktree);

/** In the user's state directory, or where the first versions created them. */
const isOfTask = (run: string, worktree: string): boolean =>
  worktree.includes(`/${run}/task/`) || worktree.startsWith(`{project_root}/.stepfast/worktrees/${run}/`);

/**
 * The worktrees of its live sessions, without duplicates; without live sessions, that of the last one. The worktrees of
 * its tasks do not count: where they are all that is left, the run would not be found from where it was started.
 */
export function worktreesOf({ run, sessions }: State): string[] {
  const all = Object.values(sessions).filter(
    ({ worktree }) => worktree === undefined || !isOfTask(run, worktree),
  );
  const here = all.filter(({ endedAt }) => endedAt === undefined);
  const last = [...all].sort((a, b) => (b.endedAt ?? 0) - (a.endedAt ?? 0)).slice(0, 1);
  return [...new Set((here.length > 0 ? here : last).flatMap(({ worktree }) => worktree ?? []))];
}

/** An unreadable run may be the one that the caller means, so it is reported. */
function noLiveRun(runs: readonly RunInfo[]): Refused {
  const broken = runs.find(({ problem }) => problem !== undefined);
  if (!broken) return { code: 'no_run', params: { why: 'none_live' } };
  return { code: 'store_corrupt', params: { message: broken.problem ?? '', run: broken.run } };
}

export const severalRuns = (runs: { run: string; summary?: string }[]): Refused => ({
  code: 'several_runs',
  params: { runs: runs.slice(0, mostListed), total: runs.length },
});
