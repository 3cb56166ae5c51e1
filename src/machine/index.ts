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
export { adoptedDefinition, requiredReading, slug } from './adopt.ts';
export { criticalArtifacts, type DueArtifact, dueArtifacts, wasTriggered } from './artifacts.ts';
export { isFenced } from './boundary.ts';
export { decide, settle } from './decide.ts';
export type { Effect } from './effect.ts';
export { evolve, replay } from './evolve.ts';
export { formatHandle, outputKey, parseHandle, suffixOf } from './handle.ts';
export { mayStop } from './may-stop.ts';
export { noteLine } from './notes.ts';
export { expandPlaceholders, findPlaceholders, plainPlaceholders, taskPlaceholders } from './placeholders.ts';
export { isRefusal, type Refusal } from './refusal.ts';
export { type Reply, type Response, respond } from './respond.ts';
export { shortSummary } from './start.ts';
export { type Cursor, ended, isWithin, type Output, opening, type State } from './state.ts';
export { instructionsFor, type Status, statusOf } from './status.ts';
export { attemptsOf, isSatisfied, wantedTasks } from './steps.ts';
export { estimateTokens, leastBriefing, lengthWithin } from './tokens.ts';
export { type MachineOptions, WorkflowStateMachine } from './workflow-state-machine.ts';
