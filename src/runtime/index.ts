export { type Answer, isRefused, type Refused, refusedBy, type Told } from './answer.ts';
export { type Config, readConfig } from './config.ts';
export {
  type Circumstances,
  createEngine,
  type Engine,
  type Executed,
  noRun,
  type OpeningCommand,
} from './engine.ts';
export { type GateProgress, logsDirectory, logsName, type RunnerCommand } from './gate-keeper.ts';
export { conditionHolds, inputVariables } from './gate-values.ts';
export { commandsOf, excludedFrom } from './gates-in.ts';
export { ignored } from './new-run.ts';
export { agentMark, notAPerson } from './person.ts';
export { findProject, local, type Project, portable } from './project.ts';
export type { Resolved } from './resolve.ts';
export {
  type CallOptions,
  createRuntime,
  type Request,
  type Runtime,
  type RuntimeOptions,
  type StartRequest,
  type Wanted,
  type Who,
} from './runtime.ts';
export { taskWorktree } from './task-worktree.ts';
export { createTrust, type Trust, type TrustRecord } from './trust.ts';
export { bootId, machineId, type Surroundings, stateDirectory } from './user.ts';
