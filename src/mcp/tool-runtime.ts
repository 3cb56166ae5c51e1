import { listWorkflows } from '../definition/index.ts';
import type { Engine } from '../engine/index.ts';
import type { Definition } from '../machine/index.ts';
import type { CallOptions, Runtime, TreelessRuntime, Who } from '../runtime/index.ts';
import { portable, taskWorktree } from '../workspace/index.ts';

/** What the tools need of a runtime, whether it has a tree or not. */
export interface ToolRuntime extends Pick<Runtime, 'engine' | 'memory' | 'start' | 'call' | 'which'> {
  /** Placeholders that only the place knows. */
  values: Record<string, string>;
  /** Absent where there is no tree. */
  tree?: {
    /** The worktree, and how it is stored. */
    worktree: string;
    here: string;
    /** Where the files of a claimed task are, if it has a worktree of its own. */
    ofTask(run: string, task: string | undefined): string | undefined;
  };
  /** All that a call without a name may mean. */
  runs(): Promise<Readonly<Awaited<ReturnType<Engine['runs']>>>>;
  /** What can be started here. */
  workflows(): Promise<Definition[]>;
}

/** Who calls, and how long the call may wait for gates. */
export interface Caller {
  who: Who & { session: string };
  options: Pick<CallOptions, 'waitMs' | 'onProgress'>;
}

export function toolRuntime(runtime: Runtime | TreelessRuntime): ToolRuntime {
  const { engine, memory, start, call, which } = runtime;
  const shared = { engine, memory, start, call, which };
  if ('treeless' in runtime)
    return { ...shared, values: {}, runs: runtime.runs, workflows: runtime.workflows };
  const { project, searchPath, resolve } = runtime;
  return {
    ...shared,
    values: { project_root: project.root },
    tree: {
      worktree: project.worktree,
      here: portable(project.worktree, project.root),
      ofTask: (run, task) => taskWorktree(project, run, task),
    },
    runs: () => engine.runs(),
    workflows: async () =>
      listWorkflows(searchPath).flatMap(({ name, base, hash, shadowedBy }) =>
        base || hash === undefined || shadowedBy !== undefined ? [] : [resolve(name).definition],
      ),
  };
}
