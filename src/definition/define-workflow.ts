import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { stringify } from 'yaml';
import { StepfastError } from '../errors.ts';
import type { Definition } from '../machine/index.ts';
import type { Authored } from '../schema/index.ts';
import { type Diagnostic, WorkflowValidationError } from './diagnostics.ts';
import {
  createFindBase,
  findWorkflow,
  isPath,
  nearestProject,
  readWorkflowFile,
  type WorkflowDirectory,
  workflowSearchPath,
} from './find-workflow.ts';
import type { FindBase } from './merge-extends.ts';
import { type ParseResult, parseWorkflow } from './parse.ts';

/** A workflow as an object, with the keys of a file. */
export interface WorkflowInput extends Omit<Authored, 'id' | 'name'> {
  name: string;
}

export interface DefineOptions {
  /** Where `extends` looks for workflows by name; by default the search path of the project in the current directory. */
  searchPath?: readonly WorkflowDirectory[];
}

/**
 * Validates a workflow like a file and returns its definition, with defaults filled in. Throws WorkflowValidationError
 * with all errors at once; their lines are those of the YAML that `writeWorkflow` would write.
 *
 * @example
 * ```ts
 * import { defineWorkflow, WorkflowStateMachine } from 'stepfast';
 *
 * const workflow = defineWorkflow({
 *   name: 'fix',
 *   description: 'Fix a bug',
 *   steps: [
 *     { id: 'reproduce', type: 'action', instructions: 'Write a test that fails.' },
 *     { id: 'fix', type: 'action', instructions: 'Fix it.', gate: [{ run: 'npm test' }] },
 *   ],
 * });
 * const machine = new WorkflowStateMachine(workflow);
 * console.log(machine.getStatus().instructions);
 * ```
 */
export function defineWorkflow(workflow: WorkflowInput, options: DefineOptions = {}): Definition {
  const { definition, diagnostics } = validateWorkflow(workflow, options);
  if (definition === undefined) throw new WorkflowValidationError(diagnostics);
  return definition;
}

/**
 * Validates the text of a workflow file, or a value that may be a workflow. Never throws: `definition` is present if
 * there is no error.
 *
 * @example
 * ```ts
 * import { validateWorkflow } from 'stepfast';
 *
 * const { definition, diagnostics } = validateWorkflow('name: fix\nsteps: []\n');
 * for (const { line, message, suggestion } of diagnostics) console.log(line, message, suggestion);
 * console.log(definition === undefined ? 'invalid' : definition.name);
 * ```
 */
export function validateWorkflow(workflow: unknown, options: DefineOptions = {}): ParseResult {
  const searchPath = options.searchPath ?? searchPathFrom(process.cwd());
  const file = typeof workflow === 'string' ? '<text>' : '<object>';
  const text = typeof workflow === 'string' ? { yaml: workflow } : yamlOf(workflow, file);
  if ('diagnostic' in text) return { diagnostics: [text.diagnostic] };
  return parseWorkflow(text.yaml, { file, findBase: findByName(file, searchPath) });
}

/**
 * Writes a workflow as the YAML that `stepfast` reads: reading it back gives the same definition and hash. Creates the
 * folder. Throws WorkflowValidationError for an invalid workflow, and `bad_option` if the file does not end in .yaml or
 * .yml; then nothing is written.
 *
 * @example
 * ```ts
 * import { writeWorkflow } from 'stepfast';
 *
 * writeWorkflow('.stepfast/workflows/fix.yaml', {
 *   name: 'fix',
 *   description: 'Fix a bug',
 *   steps: [{ id: 'fix', type: 'action', instructions: 'Fix it.', gate: [{ run: 'npm test' }] }],
 * });
 * ```
 */
export function writeWorkflow(path: string, workflow: WorkflowInput): void {
  if (!/\.ya?ml$/.test(path))
    throw new StepfastError('bad_option', `'${path}' does not end in .yaml or .yml: rename it`);
  const text = yamlOf(workflow, path);
  if ('diagnostic' in text) throw new WorkflowValidationError([text.diagnostic]);
  const findBase = createFindBase(searchPathFrom(dirname(path)));
  const { definition, diagnostics } = parseWorkflow(text.yaml, { file: path, findBase });
  if (definition === undefined) throw new WorkflowValidationError(diagnostics);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text.yaml);
}

const searchPathFrom = (directory: string): WorkflowDirectory[] =>
  workflowSearchPath({ projectRoot: nearestProject(directory) });

/** An object is in no folder, so it extends names of the search path only. */
function findByName(object: string, searchPath: readonly WorkflowDirectory[]): FindBase {
  const findBase = createFindBase(searchPath);
  return (name, from) => {
    if (from !== object) return findBase(name, from);
    const found = isPath(name) ? undefined : findWorkflow(name, searchPath);
    const read = found && readWorkflowFile(found.file);
    return found && read?.ok ? { file: found.file, text: read.text } : undefined;
  };
}

/** As text, so that an object gets every check of a file. */
function yamlOf(workflow: unknown, file: string): { yaml: string } | { diagnostic: Diagnostic } {
  try {
    const plain = JSON.stringify(workflow, refuseCode);
    // No text means that there was no value.
    const value: unknown = plain === undefined ? null : JSON.parse(plain);
    return { yaml: stringify(value, { lineWidth: 0, aliasDuplicateObjects: false }).toWellFormed() };
  } catch (error) {
    const message = `The workflow is not plain data: ${error instanceof Error ? error.message : String(error)}`;
    const suggestion = 'Use only what JSON can hold.';
    const place = { severity: 'error', code: 'not_plain', file, line: 1, column: 1 } as const;
    return { diagnostic: { ...place, message, suggestion } };
  }
}

function refuseCode(key: string, value: unknown): unknown {
  if (!['function', 'symbol', 'bigint'].includes(typeof value)) return value;
  throw new TypeError(`${key === '' ? 'it' : `'${key}'`} is a ${typeof value}`);
}
