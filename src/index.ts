export {
  type Diagnostic,
  loadWorkflowTemplate,
  loadWorkflowTemplateFromString,
  WorkflowValidationError,
} from './definition/index.ts';
export { StepfastError } from './errors.ts';
export {
  type Command,
  type ContextAction as StepContextAction,
  type Definition as WorkflowTemplate,
  decide,
  type Event,
  evolve,
  isRefusal,
  type MachineOptions,
  type Refusal,
  type Response,
  replay,
  respond,
  type State,
  type Status,
  type Step as WorkflowStep,
  type SubStep as LoopStep,
  type WorkflowState,
  WorkflowStateMachine,
  type WorkflowTask,
} from './machine/index.ts';
