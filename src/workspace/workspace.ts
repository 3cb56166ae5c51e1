import { join } from 'node:path';
import type { loadArtifacts } from '../context/index.ts';
import {
  type CheckTool,
  excludedFrom,
  listWorkflows,
  type WorkflowDirectory,
  workflowSearchPath,
} from '../definition/index.ts';
import { git, gitEnvironment, type Tree, treeOf } from '../evidence/index.ts';
import type { Definition, State } from '../machine/index.ts';
import type { Loaded } from '../store/index.ts';
import type { Config } from './config.ts';
import { containedFile } from './contained-file.ts';
import {
  createGateSupervisor,
  type GateSupervisor,
  logsDirectory,
  type RunnerCommand,
} from './gates/gate-supervisor.ts';
import { type MergeCheck, type MergeToCheck, runMergeGates } from './gates/run-merge-gates.ts';
import { setUpId, setUpWorktree } from './gates/set-up-worktree.ts';
import { driverMark } from './leftover-processes.ts';
import { ignoreRuns } from './own-folders.ts';
import { type Project, portable } from './project.ts';
import { type ReadState, readCommand, readState } from './required-reading.ts';
import { type Resolved, resolveWorkflow } from './resolve-workflow.ts';
import { findSavedState, type SavedState } from './saved-state.ts';
import { sessionEnvironment } from './session-environment.ts';
import { readTodoFile, type TodoReader } from './todo-file.ts';
import { createTrust, type Trust } from './trust.ts';
import { bootId } from './user-state.ts';
import { withCheckout } from './worktree-id.ts';
import { createTaskWorktree } from './worktrees/create.ts';
import { taskWorktree } from './worktrees/places.ts';
import { unmergedBranches } from './worktrees/unmerged.ts';

type ArtifactRequest = Parameters<typeof loadArtifacts>[0];

/** The files and processes that calls need. `none()` is for a server without files. */
export interface Workspace {
  /** False: no files to read and no processes. */
  readonly hasFiles: boolean;
  readonly project: Project;
  /** The id of this project directory, if a server is configured. */
  readonly checkout?: string | undefined;
  /** This worktree, as sessions store it. */
  readonly here: string;
  /** Placeholders that only the workspace knows. */
  readonly values: Record<string, string>;
  readonly gates: GateSupervisor;
  /** How critical artifacts are read; the disk by default. */
  readonly artifactFiles?: NonNullable<ArtifactRequest['files']>;
  /** Where a session works, for its run's history. */
  environment(): Record<string, string>;
  isTrusted(definition: Definition): boolean;
  trustChanges: Trust['changes'];
  /** Whether a path stays inside the worktree, and out of `.git` and `.stepfast`. */
  contains(path: string): boolean;
  ignoreRuns(): void;
  /** Walks over all files. */
  tree(definition: Definition, worktree: string): Promise<Tree | undefined>;
  git(args: readonly string[], worktree: string): Promise<string | undefined>;
  /** The command that records a file as read now; undefined without such a file. */
  readCommand(path: string): ReturnType<typeof readCommand>;
  readState(state: State, path: string, worktree: string): ReadState;
  /** The worktree of a claimed task, if it has one. */
  taskWorktree(run: string, task: string | undefined): string | undefined;
  createTaskWorktree(view: Loaded, task: string): Promise<string | undefined>;
  unmergedBranches(run: string): Promise<string[]>;
  /** The workflow to start. Throws `no_workflow` and WorkflowValidationError. */
  workflow(name: string | undefined): Promise<Definition>;
  /** The to-do list as it is on disk, with what a person wrote into it. */
  readTodo(view: Loaded, reader: TodoReader): string | undefined;
  /** What Lanes left unfinished here. */
  savedState(definition: Definition): Promise<SavedState | undefined>;
  /** All that can be started. */
  workflows(): Promise<Definition[]>;
}

/** A workspace with files, and what only a person's commands need. */
export interface LocalWorkspace extends Workspace {
  readonly trust: Trust;
  readonly searchPath: readonly WorkflowDirectory[];
  /** Throws `no_workflow` and WorkflowValidationError. */
  resolve(workflow: string): Resolved;
  /** Runs the gates of a merge in the worktree of the queue. `task`: with those that are about this task. */
  checkMerge(view: Loaded, merge: MergeToCheck): Promise<MergeCheck>;
  /** Prepares a new worktree, of a task or of the run, as the workflow wants it; returns why it could not. */
  setUp(
    view: Loaded,
    worktree: { path: string; task?: string; slot?: number | undefined },
    signal: AbortSignal,
  ): Promise<string | undefined>;
}

export interface WorkspaceOptions {
  project: Project;
  env: Readonly<Record<string, string | undefined>>;
  /** The directory of per-user state. */
  state: string;
  machine: string;
  /** For relative workflow paths. */
  cwd?: string;
  home?: string | undefined;
  config?: Config;
  checkout?: string | undefined;
  /** For a start without a name. */
  workflowPath?: string | undefined;
  /** Hashes that this process trusts. */
  trusted?: readonly string[] | undefined;
  runner?: RunnerCommand;
  /** Judges the names of tools in workflows that are started. */
  checkTool?: CheckTool | undefined;
}

const gitMs = 5_000;

export function openWorkspace(options: WorkspaceOptions): LocalWorkspace {
  const { project, env, state, home, checkout, config = {}, cwd = project.worktree } = options;
  const cacheDirectory = join(state, 'cache');
  const trust = createTrust(state, project.root, options.trusted);
  const searchPath = workflowSearchPath({ projectRoot: project.worktree, env, home });
  const gateOptions = { project, trust, env, host: bootId(options.machine), cacheDirectory };
  const { checkTool } = options;
  const resolve = (name: string): Resolved => resolveWorkflow(name, { searchPath, config, cwd, checkTool });
  return {
    hasFiles: true,
    project,
    checkout,
    here: withCheckout(portable(project.worktree, project.root), checkout),
    values: { project_root: project.root },
    trust,
    searchPath,
    resolve,
    gates: createGateSupervisor({ ...gateOptions, checkout, runner: options.runner }),
    checkMerge: (view, merge) => runMergeGates(gateOptions, view, merge),
    setUp: (view, worktree, signal) =>
      setUpWorktree({ ...view, ...worktree }, gateOptions, {
        logs: join(
          logsDirectory(project, view.run),
          worktree.task === undefined ? 'run' : setUpId(worktree.task),
        ),
        signal,
        mark: driverMark(view.run),
      }),
    environment: () => sessionEnvironment(project, env),
    isTrusted: trust.has,
    trustChanges: trust.changes,
    contains: (path) => containedFile(project.worktree, path) !== undefined,
    ignoreRuns: () => ignoreRuns(project),
    tree: (definition, worktree) => treeOf({ worktree, exclude: excludedFrom(definition), cacheDirectory }),
    git: runGit,
    readCommand: (path) => readCommand(path, project),
    readState: (of, path, worktree) => readState(of, path, { ...project, worktree }),
    taskWorktree: (run, task) => taskWorktree(project, run, task),
    createTaskWorktree: (view, task) => createTaskWorktree(project, view, task),
    unmergedBranches: (run) => unmergedBranches(project, run),
    workflow: async (name) => resolve(name ?? options.workflowPath ?? 'go').definition,
    readTodo: ({ run, definition }, reader) => {
      const directory = join(project.directory, 'runs', run);
      const memory = join(cacheDirectory, 'todo');
      return readTodoFile(definition.todo_path, { worktree: project.worktree, directory, memory }, reader);
    },
    savedState: async (definition) =>
      findSavedState(definition, { worktree: project.worktree, memory: join(cacheDirectory, 'taken') }),
    workflows: async () =>
      listWorkflows(searchPath, checkTool).flatMap(({ name, base, hash, shadowedBy }) =>
        base || hash === undefined || shadowedBy !== undefined ? [] : [resolve(name).definition],
      ),
  };

  async function runGit(args: readonly string[], worktree: string): Promise<string | undefined> {
    if (!project.git) return undefined;
    const deadline = performance.now() + gitMs;
    const { code, stdout } = await git(args, { cwd: worktree, env: gitEnvironment(env), deadline });
    return code === 0 ? stdout.toString('utf8') : undefined;
  }
}
