import type { Definition } from '../schema/index.ts';

/** What happens in each new worktree, for a person. */
export const worktreeFacts = ({ worktree = {} }: Pick<Definition, 'worktree'>): string[] => [
  ...(worktree.copy ? [`new worktrees get ${worktree.copy.join(', ')}`] : []),
  ...(worktree.setup === undefined ? [] : [`new worktrees run ${worktree.setup.trim()}`]),
];

/** The commit that merges a task into the branch of its run. */
export const mergeTaskText = (run: string, task: string): string => `Merge task '${task}' of ${run}`;

/** The commit that brings the branch of the run into that of a task. */
export const mergeRunText = (run: string, task: string): string =>
  `Merge the branch of ${run} into task '${task}'`;

/** The commit of what a session left uncommitted. */
export const leftoversText = (run: string, task?: string): string =>
  `Commit what was left uncommitted${task === undefined ? '' : ` in task '${task}'`}\n\nCommitted by Stepfast for a session of ${run}, without hooks and unsigned.`;

/** The reason of the failure. */
export const setUpFailedText = (problem: string): string => `The worktree could not be set up: ${problem}`;

/** For the caller of a claim whose task has failed by it. */
export const taskNotSetUpText = (task: string, problem: string): string =>
  `Task '${task}' has failed, because its worktree could not be set up: ${problem}`;

export const settingUpText = (task: string): string =>
  `the worktree of '${task}' is still being set up: claim the task again to wait for it, and do not work there before`;
