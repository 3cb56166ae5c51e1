import { listWorkflows, loadWorkflowFile, places } from '../../definition/index.ts';
import { StepfastError } from '../../errors.ts';
import type { Definition } from '../../machine/index.ts';
import { nearest } from '../../suggest.ts';

/** The definitions that runs of a project have pinned. */
export interface UsedDefinitions {
  /** The one that was pinned last under this name. */
  named(name: string): Promise<Definition | undefined>;
  /** The same for each name, at most so many names. */
  all(most: number): Promise<readonly Definition[]>;
}

/** What can be started where no tree is: what the project has used, then what comes with Stepfast. */
export interface Workflows {
  /** Throws `no_workflow`. */
  take(name: string): Promise<Definition>;
  /** In the order of their names. */
  all(): Promise<Definition[]>;
}

/** Read from this package's own files. */
export function bundledWorkflows(): ReadonlyMap<string, Definition> {
  const bundled = places().filter(({ kind }) => kind === 'bundled');
  return new Map(
    listWorkflows(bundled).flatMap(({ name, base, file, shadowedBy }) => {
      if (base || shadowedBy !== undefined) return [];
      const { definition } = loadWorkflowFile(file, { places: bundled });
      return definition ? [[name, definition] as const] : [];
    }),
  );
}

/** A project may have made many: the tools name no more than these. */
const mostListed = 50;

export function createWorkflows(
  bundled: () => ReadonlyMap<string, Definition>,
  used: UsedDefinitions | undefined,
): Workflows {
  return { take, all };

  async function take(name: string): Promise<Definition> {
    const found = (await used?.named(name)) ?? bundled().get(name);
    if (found) return found;
    const shown = name.slice(0, 80);
    if (/[/\\]|\.(ya?ml|json)$/.test(name)) {
      const message = `'${shown}' is a file, and no files are here: name a workflow.`;
      throw new StepfastError('no_workflow', message);
    }
    const known = (await all()).map((each) => each.name);
    const meant = nearest(name, known);
    const hint = meant === undefined ? `There are ${known.join(', ')}.` : `Did you mean '${meant}'?`;
    throw new StepfastError('no_workflow', `There is no workflow '${shown}'. ${hint}`);
  }

  async function all(): Promise<Definition[]> {
    const mine = (await used?.all(mostListed)) ?? [];
    const byName = new Map([...bundled().values(), ...mine].map((each) => [each.name, each]));
    return [...byName.values()].sort((one, other) => (one.name < other.name ? -1 : 1));
  }
}
