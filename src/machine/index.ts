export { adoptedDefinition, slug } from './adopt.ts';
export type { Command } from './command.ts';
export { decide, settle } from './decide.ts';
export {
  attemptsOf,
  type BoundaryPolicy,
  type Budget,
  type ContextAction,
  type Definition,
  type Gate,
  type Scalar,
  type Step,
  type SubStep,
} from './definition.ts';
export type { Effect } from './effect.ts';
export type { Event } from './event.ts';
export { evolve, replay } from './evolve.ts';
export { formatHandle, outputKey, parseHandle } from './handle.ts';
export { findPlaceholders, plainPlaceholders, taskPlaceholders } from './placeholders.ts';
export { isRefusal, type Refusal } from './refusal.ts';
export { type Response, respond } from './respond.ts';
export type { Cursor, Receipt, State } from './state.ts';
export { instructionsFor, type Status, statusOf } from './status.ts';
export { mayStop } from './stop.ts';
export type { WorkflowState, WorkflowTask } from './workflow-state.ts';
export { type MachineOptions, WorkflowStateMachine } from './workflow-state-machine.ts';
