export type {
  Adopted,
  Budget,
  Caller,
  Command,
  CommandOf,
  CommandType,
  ContextAction,
  CriticalArtifact,
  Definition,
  Event,
  Gate,
  GateResult,
  LongText,
  NoteKind,
  Receipt,
  RequestedGate,
  Scalar,
  SessionFacts,
  Step,
  SubStep,
  TaskEnd,
  TaskInput,
  Text,
  Verdict,
  WorkflowState,
  WorkflowTask,
} from '../schema/index.ts';
export type { Action, Claim, Delegate, Wait } from './action.ts';
export { actions } from './actions.ts';
export { adoptedDefinition, requiredReading, slug } from './adopt.ts';
export { criticalArtifacts, type DueArtifact, dueArtifacts, wasTriggered } from './artifacts.ts';
export { decide, settle } from './decide.ts';
export type { Effect } from './effect.ts';
export { evolve, replay } from './evolve.ts';
export { isFenced } from './fence.ts';
export { formatHandle, outputKey, parseHandle, suffixOf } from './handle.ts';
export { onlyCursor } from './locate.ts';
export { mayStop, type StopVerdict } from './may-stop.ts';
export { noteLine } from './notes.ts';
export { own } from './own-property.ts';
export { expandPlaceholders, findPlaceholders, plainPlaceholders, taskPlaceholders } from './placeholders.ts';
export type { RefusalParams, TaskProblem } from './refusal.ts';
export { isRefusal, type Refusal } from './refusal.ts';
export { type Reply, type Response, respond } from './respond.ts';
export { receiptValidity } from './stale-receipt.ts';
export { shortSummary } from './start.ts';
export { type Cursor, ended, isWithin, type Output, opening, type State } from './state.ts';
export type { WaitingFor } from './status.ts';
export { instructionsFor, type Status, statusOf } from './status.ts';
export { attemptsOf, isSatisfied, loopIdOf, stepOf, tasksIn, undroppedTasks, workAt } from './steps.ts';
export type { TaskState } from './task-states.ts';
export { estimateTokens, leastBriefing, lengthWithin } from './tokens.ts';
