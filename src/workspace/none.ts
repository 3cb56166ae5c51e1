import { listWorkflows, loadWorkflowFile, workflowSearchPath } from '../definition/index.ts';
import { StepfastError } from '../errors.ts';
import type { Definition, State } from '../machine/index.ts';
import { nearest } from '../suggest.ts';
import { readEntry } from './required-reading.ts';
import type { Workspace } from './workspace.ts';

/** The definitions that runs of a project have pinned. */
export interface UsedDefinitions {
  /** The last one pinned under this name. */
  named(name: string): Promise<Definition | undefined>;
  /** The last one of each name, up to a limit. */
  all(most: number): Promise<readonly Definition[]>;
}

const refused = { state: 'refused' as const, why: 'is not readable here: read it in your checkout' };

/** Paths are relative to the project; there is no directory. */
const noProject = {
  root: '/',
  worktree: '/',
  directory: '/.stepfast',
  git: false,
  worktrees: '/worktrees',
} as const;

const mostListed = 50;

/**
 * The workspace of a server without files. No file of a project is read or written and no process is started; what only
 * a tree can answer waits for a caller that has one. Without `used` only the bundled workflows can be started.
 */
export function none(used?: UsedDefinitions): Workspace {
  return {
    hasFiles: false,
    project: noProject,
    // Matches no checkout's worktree.
    here: '{elsewhere}',
    values: {},
    artifactFiles: { read: async () => refused, list: async () => refused },
    gates: {
      perform: async () => undefined,
      readTasks: async () => false,
      ensureRunner: () => {},
      startSetUp: () => {},
      setUpOf: () => 'done',
      setUpProblem: () => '',
      runnerIs: () => 'unknown',
      host: '',
      logsOf: () => '',
      worktreeOf: () => noProject.worktree,
      run: async () => {},
    },
    environment: () => ({ cwd: 'elsewhere' }),
    isTrusted: () => true,
    trustChanges: () => undefined,
    contains: () => true,
    ignoreRuns() {},
    tree: async () => undefined,
    git: async () => undefined,
    readCommand: () => undefined,
    readState,
    taskWorktree: () => undefined,
    createTaskWorktree: async () => undefined,
    unmergedBranches: async () => [],
    workflow,
    readTodo: () => undefined,
    savedState: async () => undefined,
    workflows,
  };

  async function workflow(name = 'go'): Promise<Definition> {
    const found = (await used?.named(name)) ?? bundledWorkflows().get(name);
    if (found) return found;
    const shown = name.slice(0, 80);
    if (/[/\\]|\.(ya?ml|json)$/.test(name)) {
      const message = `'${shown}' is a file, and this server has no files: name a workflow.`;
      throw new StepfastError('no_workflow', message);
    }
    const known = (await workflows()).map((each) => each.name);
    const meant = nearest(name, known);
    const hint = meant === undefined ? `There are ${known.join(', ')}.` : `Did you mean '${meant}'?`;
    throw new StepfastError('no_workflow', `There is no workflow '${shown}'. ${hint}`);
  }

  async function workflows(): Promise<Definition[]> {
    const own = (await used?.all(mostListed)) ?? [];
    const byName = new Map([...bundledWorkflows().values(), ...own].map((each) => [each.name, each]));
    return [...byName.values()].sort((one, other) => (one.name < other.name ? -1 : 1));
  }
}

/** As recorded by a caller with files, or as noted by an agent. */
function readState(state: State, path: string): 'read' | 'unread' {
  const bare = path.replace(/^@/, '');
  const isNoted = state.notes.some(({ kind, text }) => kind === 'reading' && text.replace(/^@/, '') === bare);
  return isNoted || readEntry(state, path, noProject) ? 'read' : 'unread';
}

let bundled: ReadonlyMap<string, Definition> | undefined;

/** By name. Read once, from this package's own files, which takes a tenth of a second. */
export function bundledWorkflows(): ReadonlyMap<string, Definition> {
  bundled ??= readBundled();
  return bundled;
}

function readBundled(): ReadonlyMap<string, Definition> {
  const own = workflowSearchPath().filter(({ kind }) => kind === 'bundled');
  return new Map(
    listWorkflows(own).flatMap(({ name, base, file, shadowedBy }) => {
      if (base || shadowedBy !== undefined) return [];
      const { definition } = loadWorkflowFile(file, { places: own });
      return definition ? [[name, definition] as const] : [];
    }),
  );
}
