import { existsSync } from 'node:fs';
import type { Definition } from '../machine/index.ts';
import { didYouMean } from '../suggest.ts';
import type { CheckTool } from './check-agents.ts';
import { type Diagnostic, WorkflowValidationError } from './diagnostics.ts';
import {
  createFindBase,
  findWorkflow,
  isPath,
  nearestProject,
  readWorkflowFile,
  type WorkflowDirectory,
  workflowFiles,
  workflowName,
  workflowSearchPath,
} from './find-workflow.ts';
import { type ParseResult, parseWorkflow } from './parse.ts';

/**
 * Throws WorkflowValidationError. `extends` finds nothing, because a text has no search path; `base` accepts a text
 * without steps, which others extend.
 *
 * @example
 * ```ts
 * import { loadWorkflowTemplateFromString } from 'stepfast';
 *
 * const { name } = loadWorkflowTemplateFromString(`
 * name: fix
 * description: Fix a bug
 * steps:
 *   - { id: fix, type: action, instructions: Fix it. }
 * `);
 * console.log(name);
 * ```
 */
export function loadWorkflowTemplateFromString(yaml: string, options: { base?: boolean } = {}): Definition {
  return need(parseWorkflow(yaml, { file: '<text>', ...options }));
}

export interface LoadOptions {
  /** Accepts a workflow without steps, which others extend. */
  base?: boolean;
  /** Judges the names of tools; without it any name may be right. */
  checkTool?: CheckTool | undefined;
  /** The search path; by default that of the project in the current directory. */
  places?: readonly WorkflowDirectory[];
}

/**
 * Loads a workflow by name, as `stepfast start` finds it (the project's, the user's, the bundled ones), or by path. A name
 * with a slash or an ending such as `.yaml` is a path. Throws WorkflowValidationError. `extends` is looked for beside the
 * file, then in the search path.
 *
 * @example
 * ```ts
 * import { loadWorkflowTemplate } from 'stepfast';
 *
 * const bundled = loadWorkflowTemplate('feature');
 * const own = loadWorkflowTemplate('./workflows/release.yaml');
 * console.log(bundled.steps.length, own.name);
 * ```
 */
export function loadWorkflowTemplate(nameOrPath: string, options: LoadOptions = {}): Definition {
  const { places = defaultPlaces(), ...rest } = options;
  const found = isPath(nameOrPath) ? undefined : findWorkflow(nameOrPath, places);
  // Files without an ending are paths too.
  if (found === undefined && !isPath(nameOrPath) && !existsSync(nameOrPath))
    throw new WorkflowValidationError([unknownName(nameOrPath, places)]);
  return need(loadWorkflowFile(found?.file ?? nameOrPath, { places, ...rest }));
}

/** Never throws: a file that cannot be read is a diagnostic. */
export function loadWorkflowFile(path: string, { places, ...options }: LoadOptions = {}): ParseResult {
  const read = readWorkflowFile(path);
  if (!read.ok) return { diagnostics: [read.diagnostic] };
  const findBase = createFindBase(places ?? defaultPlaces());
  return parseWorkflow(read.text, { file: path, findBase, ...options });
}

const defaultPlaces = (): WorkflowDirectory[] =>
  workflowSearchPath({ projectRoot: nearestProject(process.cwd()) });

function unknownName(name: string, places: readonly WorkflowDirectory[]): Diagnostic {
  const names = places.flatMap(({ directory }) => workflowFiles(directory).map(nameIn));
  return {
    ...{ severity: 'error', code: 'not_found', file: name, line: 1, column: 1 },
    message: `There is no workflow '${name.slice(0, 80)}'`,
    suggestion: didYouMean(name, names) ?? `There are ${[...new Set(names)].sort().join(', ')}.`,
  };
}

function nameIn(file: string): string {
  const read = readWorkflowFile(file);
  return workflowName(read.ok ? read.text : '', file);
}

function need({ definition, diagnostics }: ParseResult): Definition {
  if (definition === undefined) throw new WorkflowValidationError(diagnostics);
  return definition;
}
