export {
  type DefineOptions,
  type Diagnostic,
  defineWorkflow,
  loadWorkflowTemplate,
  loadWorkflowTemplateFromString,
  type ParseResult,
  validateWorkflow,
  type WorkflowDirectory,
  type WorkflowInput,
  WorkflowValidationError,
  writeWorkflow,
} from './definition/index.ts';
export {
  type AgentConfig,
  type MachineOptions,
  type TaskContext,
  WorkflowStateMachine,
} from './engine/index.ts';
export { StepfastError } from './errors.ts';
export {
  type Action,
  actions,
  type Command,
  type ContextAction as StepContextAction,
  type Definition as WorkflowTemplate,
  decide,
  type Event,
  evolve,
  isRefusal,
  type Refusal,
  type Response,
  replay,
  respond,
  type State,
  type Status,
  type Status as WorkflowStatusResponse,
  type Step as WorkflowStep,
  type SubStep as LoopStep,
  type WorkflowState,
  type WorkflowTask,
  type WorkflowTask as Task,
} from './machine/index.ts';
export {
  nextForPerson,
  nextForShell,
  nextForTools,
  refusalText,
  shellVoice,
  toolVoice,
} from './messages/index.ts';
export { type PendingGatesOptions, recordReading, runPendingGates } from './workspace/index.ts';
