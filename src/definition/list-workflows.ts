import type { CheckTool } from './check-agents.ts';
import type { Diagnostic } from './diagnostics.ts';
import { readWorkflowFile, type WorkflowDirectory, workflowFiles, workflowName } from './find-workflow.ts';
import { loadWorkflowFile } from './load-workflow.ts';

export interface ListedWorkflow {
  name: string;
  description?: string;
  file: string;
  from: WorkflowDirectory['kind'];
  /** Absent when the file is broken. */
  hash?: string;
  /** Has no steps: only others can build on it. */
  base: boolean;
  /** Files with the same name that this one hides. */
  shadows: string[];
  /** The file that hides this one. */
  shadowedBy?: string;
  diagnostics: Diagnostic[];
}

/** Every workflow file of the search path in its order, broken and hidden ones included. */
export function listWorkflows(
  searchPath: readonly WorkflowDirectory[],
  checkTool?: CheckTool,
): ListedWorkflow[] {
  const listed: ListedWorkflow[] = [];
  const winners = new Map<string, ListedWorkflow>();
  for (const { kind, directory } of searchPath) {
    for (const file of workflowFiles(directory)) {
      const entry = describe(file, kind, { places: searchPath, checkTool });
      const winner = winners.get(entry.name);
      if (winner === undefined) winners.set(entry.name, entry);
      else {
        winner.shadows.push(file);
        entry.shadowedBy = winner.file;
      }
      listed.push(entry);
    }
  }
  return listed;
}

function describe(
  file: string,
  from: WorkflowDirectory['kind'],
  options: { places: readonly WorkflowDirectory[]; checkTool: CheckTool | undefined },
): ListedWorkflow {
  const read = readWorkflowFile(file);
  const name = workflowName(read.ok ? read.text : '', file);
  const strict = loadWorkflowFile(file, options);
  const errors = strict.diagnostics.filter((diagnostic) => diagnostic.severity === 'error');
  const base = errors.some((error) => error.code === 'no_steps');
  const { definition, hash, diagnostics } = base ? loadWorkflowFile(file, { ...options, base }) : strict;
  return {
    name,
    ...(definition === undefined ? {} : { description: definition.description }),
    file,
    from,
    ...(hash === undefined ? {} : { hash }),
    base,
    shadows: [],
    diagnostics,
  };
}
