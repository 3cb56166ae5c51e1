export { conditionContext } from './condition-context.ts';
export {
  answerFrom,
  type Circumstances,
  checkingIn,
  createEngine,
  type Engine,
  type Executed,
  noRun,
} from './engine.ts';
export { withHomes } from './homes.ts';
export { createKnownRuns, knownRunsPath } from './known-runs.ts';
export { newRun } from './new-run-id.ts';
export { createRemoteEngine, type RemoteEngine } from './remote/remote-engine.ts';
export type { RunAnswer, RunsAnswer, ViewAnswer, WatchAnswer } from './remote/wire.ts';
export { type MachineOptions, WorkflowStateMachine } from './workflow-state-machine.ts';
