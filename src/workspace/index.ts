export { type Config, readConfig } from './config.ts';
export { containedFile } from './contained-file.ts';
export {
  type GateProgress,
  logsDirectory,
  logsName,
  type RunnerCommand,
  runnerPatienceMs,
} from './gates/gate-supervisor.ts';
export { conditionHolds, inputVariables } from './gates/gate-variables.ts';
export { isAlive } from './is-alive.ts';
export { dropLogin, keepLogin, plainToken, serverFor, serverUrl } from './login.ts';
export { createMarks, type Marks } from './marks/marks.ts';
export { markedRuns, markIfPossible, markRun, unmarkRun } from './marks/run-marks.ts';
export { none, type UsedDefinitions } from './none.ts';
export { ignored, ignoreRuns, requireOwnFolders } from './own-folders.ts';
export { notAPerson } from './person-or-agent.ts';
export { findProject, type Project, portable } from './project.ts';
export { readCommand, readEntry, readState } from './required-reading.ts';
export { sessionEnvironment } from './session-environment.ts';
export { needsWorktree, taskWorktree } from './task-worktree.ts';
export type { TrustRecord } from './trust.ts';
export { bootId, machineId, stateDirectory, type UserEnvironment } from './user-state.ts';
export { type LocalWorkspace, openWorkspace, type Workspace, type WorkspaceOptions } from './workspace.ts';
export { checkoutId, sameWorktree, withCheckout } from './worktree-id.ts';
