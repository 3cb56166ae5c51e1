import { type Diagnostic, listWorkflows } from '../../definition/index.ts';
import { type Definition, titleOf } from '../../machine/index.ts';
import { printable } from '../../messages/index.ts';
import type { LocalWorkspace, Workspace } from '../../workspace/index.ts';
import type { WorkflowRow } from './pages.ts';

/** The workflows that a server without files knows: bundled ones, and those of its runs. */
export const knownWorkflows = async (workspace: Workspace): Promise<WorkflowRow[]> =>
  (await workspace.workflows()).map(workflowRow);

/** Those that can be started in this project, also broken ones. */
export function localWorkflows({ searchPath, resolve, isTrusted }: LocalWorkspace): WorkflowRow[] {
  return listWorkflows(searchPath)
    .filter(({ base, shadowedBy }) => !base && shadowedBy === undefined)
    .map(({ name, description = '', from, hash, diagnostics }) => {
      if (hash === undefined)
        return {
          name: printable(name),
          description,
          type: 'custom',
          steps: [],
          from,
          ...problemOf(diagnostics),
        };
      const { definition } = resolve(name);
      return { ...workflowRow(definition), from, isTrusted: isTrusted(definition) };
    });
}

const workflowRow = ({ name, description, type = 'custom', steps }: Definition): WorkflowRow => ({
  name,
  description: description.trim(),
  type,
  steps: steps.map(titleOf),
});

function problemOf(diagnostics: readonly Diagnostic[]): { problem?: string } {
  const [first] = diagnostics.filter(({ severity }) => severity === 'error');
  return first ? { problem: `Line ${first.line}: ${first.message}` } : {};
}
