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
export type { CallOptions, Request, Wanted } from './call.ts';
export { createCallContext, type Who } from './call-context.ts';
export { cursorFor } from './find-cursor.ts';
export { createHolds, type Hold, type Holds, holdMs, isHeld, type LastCheck } from './hold/holds.ts';
export { checkHold, type HoldCheck } from './hold/run-hold-check.ts';
export {
  type Arrival,
  type Capability,
  type Environment,
  type HookInput,
  type HookKind,
  type HookOutput,
  type Host,
  type HostLimits,
  type HostVariables,
  markedHost,
  type Rendered,
  type StatusLineInput,
  type ToolKind,
  type ToolUse,
} from './host.ts';
export {
  type Check,
  type FoundHost,
  type HostSetup,
  isSetupRefusal,
  type SetupContext,
  type SetupOptions,
  type SetupPlan,
  type SetupRefusal,
  type Uninstalled,
} from './host-setup.ts';
export { renewMarks, withMarks } from './marked-engine.ts';
export { type Difference, differences } from './memory/differences.ts';
export {
  createMemory,
  type Gathering,
  type Load,
  loadsOf,
  type Memory,
  type Telling,
} from './memory/memory.ts';
export { openEngine } from './open-engine.ts';
export { type LocalRuntime, openRuntime, type RuntimeOptions } from './open-runtime.ts';
export { type LoggedRefusal, refusalsIn } from './refusal-log.ts';
export { createRuntime, type Runtime } from './runtime.ts';
export { type Beginning, beginSession, keyOf, type Source, type Start } from './sessions/begin-session.ts';
export { type Binding, fileOf, type SessionKey, sessionName } from './sessions/binding.ts';
export { type Bindings, createBindings } from './sessions/binding-files.ts';
export { notePressure } from './sessions/context-pressure.ts';
export { type LiveRun, liveRuns } from './sessions/live-runs.ts';
export { type Callers, createCallers } from './sessions/pending-calls.ts';
export { createSessions, resetOf, type Sessions } from './sessions/sessions.ts';
export type { StartRequest } from './start.ts';
export { digestsIn, hasItsHash, soundStates, unknownEvent } from './transfer/check-run.ts';
export type { Fork, Side } from './transfer/find-fork.ts';
export { type Secret, secretScan, secretsIn } from './transfer/find-secrets.ts';
export type { Remote } from './transfer/git-remote.ts';
export {
  createTransfer,
  type Found,
  type Incoming,
  isMeant,
  type Outgoing,
  type Transfer,
} from './transfer/transfer.ts';
