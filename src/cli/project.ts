import { existsSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { commandName } from '../command-name.ts';
import {
  findWorkflow,
  listWorkflows,
  loadWorkflowFile,
  type ParseResult,
  type WorkflowDirectory,
  workflowSearchPath,
} from '../definition/index.ts';
import { StepfastError } from '../errors.ts';
import { checkTool } from '../hosts/index.ts';
import type { Definition } from '../machine/index.ts';
import { count, printable } from '../messages/index.ts';
import { nearest } from '../suggest.ts';
import { notFound } from './exit.ts';
import type { Io } from './io.ts';

/** The nearest parent directory with .stepfast or .git, else the current one. */
export function projectRoot(cwd: string): string {
  for (let directory = cwd; ; directory = dirname(directory)) {
    if (existsSync(join(directory, '.stepfast')) || existsSync(join(directory, '.git'))) return directory;
    if (directory === dirname(directory)) return cwd;
  }
}

export const searchPath = (io: Io): WorkflowDirectory[] =>
  workflowSearchPath({ projectRoot: projectRoot(io.cwd), home: io.home, env: io.env });

/** The file of a workflow, by name or relative path. Throws not_found with a suggestion. */
export function findWorkflowFile(name: string, path: readonly WorkflowDirectory[], io: Io): string {
  const file = resolve(io.cwd, name);
  const isPath = /[/\\]|\.(ya?ml|json)$/.test(name);
  const found = findWorkflow(isPath ? file : name, path);
  if (found) return found.file;
  if (existsSync(file) && statSync(file).isDirectory()) {
    throw notFound(`'${printable(name)}' is a directory. Pass its files: ${printable(name)}/*.yaml`);
  }
  if (isPath) throw notFound(`There is no file '${printable(name)}'.`);
  const meant = nearest(name, [...new Set(listWorkflows(path).map((listed) => listed.name))]);
  const hint = meant === undefined ? `See: ${commandName()} list` : `Did you mean '${printable(meant)}'?`;
  throw notFound(`There is no workflow '${printable(name)}'. ${hint}`);
}

export interface Loaded extends ParseResult {
  /** Has no steps; other workflows extend it. */
  base: boolean;
}

export function load(file: string, path: readonly WorkflowDirectory[]): Loaded {
  const strict = loadWorkflowFile(file, { places: path, checkTool });
  const errors = strict.diagnostics.filter(({ severity }) => severity === 'error');
  if (!errors.some(({ code }) => code === 'no_steps')) return { ...strict, base: false };
  return { ...loadWorkflowFile(file, { places: path, checkTool, base: true }), base: true };
}

/** A workflow that can run. Throws an error with the command that explains the problem. */
export function definitionOf(name: string, io: Io, purpose: 'drawn' | 'simulated'): Definition {
  const path = searchPath(io);
  const file = findWorkflowFile(name, path, io);
  const { definition, diagnostics, base } = load(file, path);
  const see = `See: ${commandName()} validate ${shown(file, io)}`;
  if (!definition) {
    const errors = diagnostics.filter(({ severity }) => severity === 'error').length;
    const message = `The workflow has ${count(errors, 'error')}, so it cannot be ${purpose}. ${see}`;
    throw new StepfastError('invalid_workflow', message);
  }
  if (base) {
    const message = `'${definition.name}' has no steps: pass a workflow that extends it. ${see}`;
    throw new StepfastError('invalid_workflow', message);
  }
  return definition;
}

/** Relative within the project, else absolute. */
export function shown(file: string, io: Io): string {
  const inside = relative(projectRoot(io.cwd), file);
  const outside = inside === '' || inside.startsWith('..') || isAbsolute(inside);
  return outside ? file : relative(io.cwd, file);
}
