import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Runtime } from '../runtime/index.ts';

/** Where the files of a held task are, if it has a tree of its own. */
export function taskWorktree(
  { project }: Runtime,
  run: string,
  task: string | undefined,
): string | undefined {
  if (task === undefined) return undefined;
  const path = join(project.directory, 'worktrees', run, task);
  return existsSync(path) ? path : undefined;
}
