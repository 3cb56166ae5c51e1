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
export type { Beginning, Source, Start } from './bindings/begins.ts';
export type { Binding, SessionKey } from './bindings/binding.ts';
export { createSessions, type Sessions } from './bindings/sessions.ts';
export type { CallOptions, Request, Wanted } from './call.ts';
export { type Config, readConfig } from './config.ts';
export {
  type Circumstances,
  createEngine,
  type Engine,
  type Executed,
  noRun,
  type OpeningCommand,
} from './engine.ts';
export { sessionEnvironment } from './environment.ts';
export { type GateProgress, logsDirectory, logsName, type RunnerCommand } from './gate-keeper.ts';
export { conditionHolds, inputVariables } from './gate-values.ts';
export { commandsOf, excludedFrom } from './gates-in.ts';
export type { Difference } from './memory/differences.ts';
export type { Gathering, Memory, Telling } from './memory/memory.ts';
export { ignored } from './new-run.ts';
export { agentMark, notAPerson } from './person.ts';
export { findProject, local, type Project, portable } from './project.ts';
export type { Resolved } from './resolve.ts';
export { createRuntime, type Runtime, type RuntimeOptions } from './runtime.ts';
export type { StartRequest } from './start.ts';
export type { Who } from './surroundings.ts';
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
export { createTrust, type Trust, type TrustRecord } from './trust.ts';
export { bootId, machineId, type Surroundings, stateDirectory } from './user.ts';
export { cursorFor } from './whose.ts';
