import { lstat, realpath } from 'node:fs/promises';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import { type UnreadFile, unreadFilesText } from '../messages/index.ts';

export interface FileCheck {
  pass: boolean;
  why?: string;
  /** Neither true nor false. */
  undecided?: true;
}

/** Whether the path exists inside the worktree, also after resolving symbolic links. */
export async function checkExists(path: string, worktree: string, root?: string): Promise<FileCheck> {
  const base = await realpath(worktree);
  const asked = resolve(base, fromRoot(path, root));
  if (!inside(base, asked) && !inside(resolve(worktree), asked)) {
    return { pass: false, why: `${path} is outside the worktree: name a path inside it` };
  }
  try {
    const real = await realpath(asked);
    if (inside(base, real)) return { pass: true };
    return {
      pass: false,
      why: `${path} leaves the worktree through a symbolic link: replace the link with the file`,
    };
  } catch {
    const dangling = await lstat(asked).then(
      () => true,
      () => false,
    );
    const problem = dangling ? 'is a dangling symbolic link' : 'does not exist';
    return { pass: false, why: `${path} ${problem}: write it, then advance again` };
  }
}

/** Maps an absolute path below the project root to the same path in the worktree. */
function fromRoot(path: string, root: string | undefined): string {
  return root !== undefined && isAbsolute(path) && inside(root, path) ? relative(root, path) : path;
}

function inside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** Whether the current version of a required file was read. */
export type ReadState = 'read' | 'unread' | 'changed' | 'missing';

export async function checkRead(
  paths: readonly string[],
  isRead: (path: string) => ReadState | Promise<ReadState>,
): Promise<FileCheck> {
  const unread: UnreadFile[] = [];
  for (const path of paths) {
    const state = await isRead(path);
    if (state !== 'read') unread.push({ path, state });
  }
  return unread.length === 0 ? { pass: true } : { pass: false, why: unreadFilesText(unread) };
}
