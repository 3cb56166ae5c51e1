import type { Definition } from '../schema/index.ts';

/** What happens in each new worktree, for a person. */
export const worktreeFacts = ({ worktree = {} }: Pick<Definition, 'worktree'>): string[] => [
  ...(worktree.copy ? [`new worktrees get ${worktree.copy.join(', ')}`] : []),
  ...(worktree.setup === undefined ? [] : [`new worktrees run ${worktree.setup.trim()}`]),
];

/** The reason of the failure. */
export const setUpFailedText = (problem: string): string => `The worktree could not be set up: ${problem}`;

/** For the caller of a claim whose task has failed by it. */
export const taskNotSetUpText = (task: string, problem: string): string =>
  `Task '${task}' has failed, because its worktree could not be set up: ${problem}`;

export const settingUpText = (task: string): string =>
  `the worktree of '${task}' is still being set up: claim the task again to wait for it, and do not work there before`;
