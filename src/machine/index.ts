export { adoptedDefinition, slug } from './adopt.ts';
export type { Caller, Command, CommandOf, CommandType, TaskInput } from './command.ts';
export { decide, type Settled, settle } from './decide.ts';
export {
  type Agent,
  attemptsOf,
  type BoundaryPolicy,
  type Budget,
  type ContextAction,
  type CriticalArtifact,
  type CriticalArtifacts,
  type Definition,
  type Gate,
  type Input,
  type Review,
  type Scalar,
  type Step,
  type SubStep,
  type Transition,
  type WorkflowType,
} from './definition.ts';
export { type Effect, effectsOf } from './effect.ts';
export type { Event, EventOf, EventType, Verdict } from './event.ts';
export { evolve, replay } from './evolve.ts';
export { formatHandle, outputKey, parseHandle, pathOf } from './handle.ts';
export {
  expandPlaceholders,
  findPlaceholders,
  type PlaceholderUse,
  plainPlaceholders,
  taskPlaceholders,
} from './placeholders.ts';
export { type Decision, isRefusal, type Refusal, type RefusalCode } from './refusal.ts';
export { type Reply, type Response, respond } from './respond.ts';
export type { Cursor, Receipt, RunStatus, State, Task, Text } from './state.ts';
export { instructionsFor, type Phase, phaseOf, type Status, statusOf } from './status.ts';
export { mayStop, type StopVerdict } from './stop.ts';
export type { WorkflowState, WorkflowTask } from './workflow-state.ts';
export { type MachineOptions, WorkflowStateMachine } from './workflow-state-machine.ts';
