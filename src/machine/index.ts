export { adoptedDefinition, requiredReading, slug } from './adopt.ts';
export { criticalArtifacts, type DueArtifact, dueArtifacts, wasTriggered } from './artifacts.ts';
export { isFenced } from './boundary.ts';
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
export { formatHandle, outputKey, parseHandle, suffixOf } from './handle.ts';
export { mayStop } from './may-stop.ts';
export { noteLine } from './notes.ts';
export { expandPlaceholders, findPlaceholders, plainPlaceholders, taskPlaceholders } from './placeholders.ts';
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
export { instructionsFor, type Status, statusOf } from './status.ts';
export { isSatisfied, wantedTasks } from './steps.ts';
export { estimateTokens, leastBriefing, lengthWithin } from './tokens.ts';
export type { WorkflowState, WorkflowTask } from './workflow-state.ts';
export { type MachineOptions, WorkflowStateMachine } from './workflow-state-machine.ts';
