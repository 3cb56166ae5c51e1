export type { Action, Claim, Delegate } from './action.ts';
export { actions } from './actions.ts';
export { adoptedDefinition, requiredReading, slug } from './adopt.ts';
export { criticalArtifacts, type DueArtifact, dueArtifacts, wasTriggered } from './artifacts.ts';
export type { Caller, Command, CommandOf, CommandType, TaskInput } from './command.ts';
export { decide, settle } from './decide.ts';
export {
  attemptsOf,
  type BoundaryPolicy,
  type Budget,
  type ContextAction,
  type CriticalArtifact,
  type Definition,
  type Gate,
  type Scalar,
  type Step,
  type SubStep,
} from './definition.ts';
export type { Effect } from './effect.ts';
export type { Event, EventType, Verdict } from './event.ts';
export { evolve, replay } from './evolve.ts';
export { isFenced } from './fence.ts';
export { formatHandle, outputKey, parseHandle, suffixOf } from './handle.ts';
export { onlyCursor } from './locate.ts';
export { mayStop } from './may-stop.ts';
export { noteLine } from './notes.ts';
export { own } from './own-property.ts';
export { expandPlaceholders, findPlaceholders, plainPlaceholders, taskPlaceholders } from './placeholders.ts';
export type { RefusalParams, TaskProblem } from './refusal.ts';
export { isRefusal, type Refusal } from './refusal.ts';
export { type Reply, type Response, respond } from './respond.ts';
export { shortSummary } from './start.ts';
export {
  type Adopted,
  type Cursor,
  ended,
  type GateResult,
  isWithin,
  type LongText,
  type NoteKind,
  type Output,
  opening,
  type Receipt,
  type RequestedGate,
  type SessionFacts,
  type State,
  type TaskEnd,
  type Text,
} from './state.ts';
export type { WaitingFor } from './status.ts';
export { instructionsFor, type Status, statusOf } from './status.ts';
export { isSatisfied, loopIdOf, stepOf, tasksIn, wantedTasks, workAt } from './steps.ts';
export type { TaskState } from './task-states.ts';
export { estimateTokens, leastBriefing, lengthWithin } from './tokens.ts';
export type { WorkflowState, WorkflowTask } from './workflow-state.ts';
