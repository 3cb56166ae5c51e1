import type { Definition } from '../machine/index.ts';
import { WorkflowValidationError } from './diagnostics.ts';
import {
  createFindBase,
  readWorkflowFile,
  type WorkflowDirectory,
  workflowSearchPath,
} from './find-workflow.ts';
import { type ParseOptions, type ParseResult, parseWorkflow } from './parse.ts';

/** Throws WorkflowValidationError. `extends` finds nothing, because a text has no search path. */
export function loadWorkflowTemplateFromString(yaml: string, options: { base?: boolean } = {}): Definition {
  return need(parseWorkflow(yaml, { file: '<text>', ...options }));
}

interface LoadOptions extends Pick<ParseOptions, 'base' | 'checkTool'> {
  places?: readonly WorkflowDirectory[];
}

/** Throws WorkflowValidationError. `extends` is looked for beside the file, then in the search path. */
export function loadWorkflowTemplate(path: string, options: LoadOptions = {}): Definition {
  return need(loadWorkflowFile(path, options));
}

/** Never throws: a file that cannot be read is a diagnostic. */
export function loadWorkflowFile(path: string, { places, ...options }: LoadOptions = {}): ParseResult {
  const read = readWorkflowFile(path);
  if (!read.ok) return { diagnostics: [read.diagnostic] };
  const findBase = createFindBase(places ?? workflowSearchPath());
  return parseWorkflow(read.text, { file: path, findBase, ...options });
}

function need({ definition, diagnostics }: ParseResult): Definition {
  if (definition === undefined) throw new WorkflowValidationError(diagnostics);
  return definition;
}
