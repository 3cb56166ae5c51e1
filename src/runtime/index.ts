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
  type AdoptionContext,
  type AdoptOptions,
  adopt,
  isRefusedAdoption,
  type LostSource,
  lostSources,
  rescan,
} from './adoption/adopt.ts';
export { findInformal, type InformalWorkflow, readInformal } from './adoption/find-informal-workflow.ts';
export { markers } from './adoption/parse-informal-workflow.ts';
export { type Answer, type AnsweredStatus, isRefused, type Refused, refusedBy } from './answer.ts';
export {
  type ArtifactVersion,
  type BriefingRequest,
  type Briefings,
  createBriefings,
  type GatherRequest,
  loadsOf,
} from './briefing/briefings.ts';
export { type Difference, differences } from './briefing/environment-differences.ts';
export type { CallOptions, Request, RunQuery } from './call.ts';
export { type CallerIdentity, createCallContext } from './call-context.ts';
export { cursorFor } from './find-cursor.ts';
export { createHolds, type Hold, type Holds, hasHold, holdMs, type LastCheck } from './hold/holds.ts';
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
  type UninstallResult,
} from './host-setup.ts';
export { renewMarks, withMarks } from './marked-engine.ts';
export { openEngine } from './open-engine.ts';
export { type LocalRuntime, openRuntime, type RuntimeOptions } from './open-runtime.ts';
export { type LoggedRefusal, refusalsIn } from './refusal-log.ts';
export { createRuntime, type Runtime } from './runtime.ts';
export { type Binding, fileOf, type SessionKey, sessionName } from './sessions/binding.ts';
export { type Bindings, createBindings } from './sessions/binding-files.ts';
export { notePressure } from './sessions/context-pressure.ts';
export { type LiveRun, liveRuns } from './sessions/live-runs.ts';
export { createPendingCalls, type PendingCalls } from './sessions/pending-calls.ts';
export {
  beginSession,
  keyOf,
  type SessionPlan,
  type SessionStart,
  type Source,
} from './sessions/plan-session-start.ts';
export { createSessions, resetOf, type Sessions } from './sessions/sessions.ts';
export type { StartRequest } from './start.ts';
export { digestsIn, matchesHash, unknownEvent, verifiedStates } from './transfer/check-run.ts';
export type { Fork, Side } from './transfer/find-fork.ts';
export { type Secret, secretScan, secretsIn } from './transfer/find-secrets.ts';
export type { Remote } from './transfer/git-remote.ts';
export {
  createTransfer,
  type Incoming,
  type IncomingHistory,
  isPulledByDefault,
  type Outgoing,
  type Transfer,
} from './transfer/transfer.ts';
