import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import {
  type CheckTool,
  findWorkflow,
  hashDefinition,
  listWorkflows,
  loadWorkflowFile,
  type WorkflowDirectory,
  WorkflowValidationError,
} from '../definition/index.ts';
import { StepfastError } from '../errors.ts';
import type { Pinned } from '../store/index.ts';
import { nearest } from '../suggest.ts';
import { type Config, withConfig } from './config.ts';

export interface Resolved extends Pinned {
  file: string;
  from: WorkflowDirectory['kind'] | 'file';
}

/** The workflow as a run would pin it. Throws `no_workflow`, or WorkflowValidationError. */
export function resolveWorkflow(
  name: string,
  {
    searchPath,
    config,
    cwd,
    checkTool,
  }: {
    searchPath: readonly WorkflowDirectory[];
    config: Config;
    cwd: string;
    checkTool?: CheckTool | undefined;
  },
): Resolved {
  const isPath = /[/\\]|\.(ya?ml|json)$/.test(name);
  const found = findWorkflow(isPath ? resolve(cwd, name) : name, searchPath);
  if (!found) throw noWorkflow(name, isPath, searchPath, cwd);
  const { definition, diagnostics } = loadWorkflowFile(found.file, { places: searchPath, checkTool });
  if (!definition) throw new WorkflowValidationError(diagnostics);
  const pinned = withConfig(definition, config);
  return { definition: pinned, hash: hashDefinition(pinned), file: found.file, from: found.from };
}

function noWorkflow(
  name: string,
  isPath: boolean,
  searchPath: readonly WorkflowDirectory[],
  cwd: string,
): StepfastError {
  const shown = name.slice(0, 80);
  if (isPath && !existsSync(resolve(cwd, name)))
    return new StepfastError('no_workflow', `There is no file '${shown}'.`);
  const names = [...new Set(listWorkflows(searchPath).map((listed) => listed.name))];
  const meant = nearest(name, names);
  const hint = meant === undefined ? `There are ${names.join(', ')}.` : `Did you mean '${meant}'?`;
  return new StepfastError('no_workflow', `There is no workflow '${shown}'. ${hint}`);
}
