export type { CheckTool, ToolProblem } from './check-agents.ts';
export { definitionCheck, definitionProblem } from './check-resolved.ts';
export {
  type DefineOptions,
  defineWorkflow,
  validateWorkflow,
  type WorkflowInput,
  writeWorkflow,
} from './define-workflow.ts';
export { type Diagnostic, WorkflowValidationError } from './diagnostics.ts';
export { type Condition, type ConditionContext, compileCondition } from './evaluate-condition.ts';
export {
  findWorkflow,
  readWorkflowFile,
  userDirectory,
  type WorkflowDirectory,
  workflowSearchPath,
} from './find-workflow.ts';
export { compareGrants, grantsOf, hashGrants, needsTrust } from './grants.ts';
export { hashDefinition, hashJson, hashWithoutProse } from './hash-definition.ts';
export { workflowJsonSchema } from './json-schema.ts';
export { commandsOf, excludedFrom, gatesOf } from './list-gates.ts';
export { type ListedWorkflow, listWorkflows } from './list-workflows.ts';
export {
  type LoadOptions,
  loadWorkflowFile,
  loadWorkflowTemplate,
  loadWorkflowTemplateFromString,
} from './load-workflow.ts';
export { type ParseResult, parseWorkflow } from './parse.ts';
