export { conditionContext } from './condition-context.ts';
export {
  type Circumstances,
  checkingIn,
  createEngine,
  type Engine,
  type Executed,
  noRun,
  type Once,
  type OpeningCommand,
} from './engine.ts';
export { withHomes } from './homes.ts';
export { createKnownRuns, knownRunsPath } from './known-runs.ts';
export { newRun } from './new-run-id.ts';
export { lookingOnce } from './remote/read-once.ts';
export { createRemoteEngine, type RemoteEngine } from './remote/remote-engine.ts';
export {
  apiHeader,
  apiVersion,
  type ErrorAnswer,
  type ErrorCode,
  engineStatus,
  errorStatus,
  etagOf,
  maxBodyBytes,
  maxPage,
  maxWatchMs,
  type RunAnswer,
  type RunsAnswer,
  type Scope,
  scopes,
  versionHeader,
  type WhoamiAnswer,
} from './remote/wire.ts';
export { type MachineOptions, WorkflowStateMachine } from './workflow-state-machine.ts';
