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
  paths,
  type Scope,
  scopes,
  versionHeader,
  type WhoamiAnswer,
} from '../schema/index.ts';
export {
  type Adoption,
  type AdoptionPlace,
  type AdoptOptions,
  adopt,
  isRefusedAdoption,
  type Lost,
  lostSources,
  rescan,
} from './adoption/adopt.ts';
export { findInformal, type Informal, readInformal } from './adoption/find.ts';
export { markers } from './adoption/parse.ts';
export { type Answer, isRefused, type Refused, refusedBy, type Told } from './answer.ts';
export { type Beginning, beginSession, keyOf, type Source, type Start } from './bindings/begins.ts';
export { type Binding, fileOf, type SessionKey, sessionName } from './bindings/binding.ts';
export { type Callers, createCallers } from './bindings/callers.ts';
export { type LiveRun, liveRuns } from './bindings/live-run.ts';
export { notePressure } from './bindings/pressure.ts';
export { createSessions, resetOf, type Sessions } from './bindings/sessions.ts';
export { type Bindings, createBindings } from './bindings/store.ts';
export type { CallOptions, Request, Wanted } from './call.ts';
export { type Config, readConfig } from './config.ts';
export { containedFile } from './contained.ts';
export {
  type Circumstances,
  createEngine,
  type Engine,
  type Executed,
  noRun,
} from './engine.ts';
export { sessionEnvironment } from './environment.ts';
export { type GateProgress, logsDirectory, logsName, type RunnerCommand } from './gate-keeper.ts';
export { conditionHolds, inputVariables } from './gate-values.ts';
export { commandsOf, excludedFrom, gatesOf } from './gates-in.ts';
export { checkHold, type HoldCheck } from './hold/check.ts';
export { createHolds, type Hold, type Holds, holdMs, isHeld, type LastCheck } from './hold/holds.ts';
export {
  type Arrival,
  type Capability,
  type Environment,
  type HookInput,
  type HookKind,
  type HookOutput,
  type Host,
  markedHost,
  type Rendered,
  type ToolKind,
  type ToolUse,
} from './host.ts';
export {
  type Check,
  type FoundHost,
  type HostSetup,
  isSetupRefusal,
  type SetupOptions,
  type SetupPlace,
  type SetupPlan,
  type SetupRefusal,
  type Uninstalled,
} from './host-setup.ts';
export { isAlive } from './is-alive.ts';
export { renewMarks, withMarks } from './marks/marked-engine.ts';
export { createMarks, type Marks } from './marks/marks.ts';
export { markedRuns, markRun, unmarkRun } from './marks/run-marks.ts';
export { type Difference, differences } from './memory/differences.ts';
export {
  createMemory,
  type Gathering,
  type Load,
  loadsOf,
  type Memory,
  type Telling,
} from './memory/memory.ts';
export { ignored, newRun, requireOwnFolders } from './new-run.ts';
export { appendOwnFile, writeOwnFile } from './own-file.ts';
export { agentMark, notAPerson } from './person.ts';
export { placed, placeOf, sameWorktree } from './placed.ts';
export { findProject, local, type Project, portable } from './project.ts';
export { readCommand, readState } from './reading.ts';
export { type LoggedRefusal, refusalsIn } from './refusals.ts';
export { type HomedEngine, withHomes } from './remote/home.ts';
export { createKnownRuns, knownRunsPath } from './remote/known-runs.ts';
export {
  dropLogin,
  keepLogin,
  type Login,
  plainToken,
  readLogin,
  serverFor,
  serverUrl,
} from './remote/login.ts';
export { lookingOnce } from './remote/look-once.ts';
export { createRemoteEngine, type RemoteEngine } from './remote/remote-engine.ts';
export type { RunAnswer, RunsAnswer } from './remote/wire.ts';
export type { Resolved } from './resolve.ts';
export { createRuntime, type Runtime, type RuntimeOptions } from './runtime.ts';
export type { StartRequest } from './start.ts';
export { createSurroundings, type Who } from './surroundings.ts';
export { taskWorktree } from './task-worktree.ts';
export type { Fork, Side } from './transfer/fork.ts';
export type { Remote } from './transfer/remote.ts';
export { type Secret, secretScan, secretsIn } from './transfer/secrets.ts';
export { digestsIn, hasItsHash, soundStates, unknownEvent } from './transfer/sound-run.ts';
export {
  createTransfer,
  type Found,
  type Incoming,
  isMeant,
  type Outgoing,
  type Transfer,
} from './transfer/transfer.ts';
export { createTreeless, type TreelessOptions, type TreelessRuntime } from './treeless/treeless.ts';
export type { UsedDefinitions } from './treeless/workflows.ts';
export { createTrust, type Trust, type TrustRecord } from './trust.ts';
export { bootId, machineId, type Surroundings, stateDirectory } from './user.ts';
export { cursorFor } from './whose.ts';
