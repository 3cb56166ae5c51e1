export { conditionContext } from './condition-context.ts';
export {
  answerFrom,
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
export { createRemoteEngine, type RemoteEngine } from './remote/remote-engine.ts';
export {
  apiHeader,
  apiVersion,
  type ErrorAnswer,
  type ErrorCode,
  type ExecutedAnswer,
  engineStatus,
  errorStatus,
  etagOf,
  maxBodyBytes,
  maxPage,
  maxWatchMs,
  preferenceIn,
  preferHeader,
  type RunAnswer,
  type RunsAnswer,
  type Scope,
  scopes,
  type ViewAnswer,
  versionHeader,
  type WatchAnswer,
  type WhoamiAnswer,
} from './remote/wire.ts';
