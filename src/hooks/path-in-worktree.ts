import { realpathSync } from 'node:fs';
import { relative, sep } from 'node:path';
import { containedFile } from '../workspace/index.ts';

/** The path relative to the worktree; undefined for files outside it, of git and of Stepfast. */
export function pathInWorktree(worktree: string, path: string): string | undefined {
  try {
    const file = containedFile(worktree, realpathSync(path));
    return file && relative(worktree, file).split(sep).join('/');
  } catch {
    return undefined;
  }
}
