import { realpathSync } from 'node:fs';
import { relative, sep } from 'node:path';
import { containedFile } from '../workspace/index.ts';

/** From the top of the worktree, where the file is inside it and neither git's nor our own. */
export function innerPath(worktree: string, path: string): string | undefined {
  try {
    const file = containedFile(worktree, realpathSync(path));
    return file && relative(worktree, file).split(sep).join('/');
  } catch {
    return undefined;
  }
}
