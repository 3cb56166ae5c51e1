import type { Definition } from '../../machine/index.ts';
import { bundledWorkflows, none, type Workspace } from '../../workspace/index.ts';

interface PublishedDefinitions {
  newest(most: number, name?: string): Promise<readonly Definition[]>;
}

/** A workspace without files, with the workflows that persons have published in a project. */
export const serverWorkspace = (publications: PublishedDefinitions): Workspace =>
  none({
    named: async (name) => (isBundled(name) ? undefined : (await publications.newest(1, name))[0]),
    all: async (most) => (await publications.newest(most)).filter(({ name }) => !isBundled(name)),
  });

/** Bundled names resolve to the bundled workflow, never to another under that name. */
const isBundled = (name: string): boolean => bundledWorkflows().has(name);
