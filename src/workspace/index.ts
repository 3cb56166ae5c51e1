export { type Config, readConfig } from './config.ts';
export { containedFile } from './contained-file.ts';
export {
  createGateKeeper,
  type GateKeeper,
  type GateProgress,
  isElsewhere,
  logsDirectory,
  logsName,
  type RunnerCommand,
  worktreeOf,
} from './gates/gate-supervisor.ts';
export { conditionHolds, inputVariables } from './gates/gate-variables.ts';
export { isAlive } from './is-alive.ts';
export { dropLogin, keepLogin, plainToken, serverFor, serverUrl } from './login.ts';
export { createMarks, type Marks } from './marks/marks.ts';
export { markedRuns, markIfPossible, markRun, unmarkRun } from './marks/run-marks.ts';
export { ignored, ignoreRuns, requireOwnFolders } from './own-folders.ts';
export { notAPerson } from './person-or-agent.ts';
export { findProject, type Project, portable } from './project.ts';
export { readCommand, readEntry, readState } from './required-reading.ts';
export { type Resolved, resolveWorkflow } from './resolve-workflow.ts';
export { sessionEnvironment } from './session-environment.ts';
export { makeTaskWorktree, taskWorktree, unmergedBranches } from './task-worktree.ts';
export { createTrust, type Trust, type TrustRecord } from './trust.ts';
export { bootId, machineId, type Surroundings, stateDirectory } from './user-state.ts';
export { placed, placeOf, sameWorktree } from './worktree-id.ts';
