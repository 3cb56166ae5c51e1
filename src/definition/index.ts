export { definitionProblem } from './check-resolved.ts';
export { type ConditionContext, compileCondition } from './condition.ts';
export { type Diagnostic, formatDiagnostic, WorkflowValidationError } from './diagnostics.ts';
export { findWorkflow, type Place, places, readWorkflowFile } from './find.ts';
export { hashDefinition } from './hash.ts';
export { workflowJsonSchema } from './json-schema.ts';
export { type ListedWorkflow, listWorkflows } from './list.ts';
export { loadWorkflowFile, loadWorkflowTemplate, loadWorkflowTemplateFromString } from './load.ts';
export { type ParseResult, parseWorkflow } from './parse.ts';
