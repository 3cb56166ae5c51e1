import { join } from 'node:path';

/** The files of a run. */
export function pathsOf(directory: string, run: string) {
  const root = join(directory, run);
  return {
    root,
    journal: join(root, 'journal.jsonl'),
    state: join(root, 'state.json'),
    workflow: join(root, 'workflow.json'),
    outputs: join(root, 'outputs'),
    lock: join(root, 'lock'),
    replacing: join(root, 'replacing.lock'),
  };
}

export type RunPaths = ReturnType<typeof pathsOf>;
