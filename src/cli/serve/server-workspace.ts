import { listWorkflows, workflowSearchPath } from '../../definition/index.ts';
import type { Definition } from '../../machine/index.ts';
import { none, type Workspace } from '../../workspace/index.ts';

interface PublishedDefinitions {
  newest(most: number, name?: string): Promise<readonly Definition[]>;
}

/** A workspace without files, with the workflows that persons have published in a project. */
export const serverWorkspace = (publications: PublishedDefinitions): Workspace =>
  none({
    named: async (name) => (isBundled(name) ? undefined : (await publications.newest(1, name))[0]),
    all: async (most) => (await publications.newest(most)).filter(({ name }) => !isBundled(name)),
  });

let names: ReadonlySet<string> | undefined;

/** Bundled names resolve to the bundled workflow, never to another under that name. */
function isBundled(name: string): boolean {
  names ??= bundledNames();
  return names.has(name);
}

const bundledNames = (): ReadonlySet<string> =>
  new Set(
    listWorkflows(workflowSearchPath().filter(({ kind }) => kind === 'bundled')).flatMap(({ name, base }) =>
      base ? [] : [name],
    ),
  );
