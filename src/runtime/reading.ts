import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { State } from '../machine/index.ts';
import { type Project, portable } from './project.ts';

export type ReadState = 'read' | 'unread' | 'changed' | 'missing';

/** Whether a file of this worktree was read as it is now. `@` and `{project_root}/` may stand before its path. */
export function readState({ reading }: State, path: string, project: Project): ReadState {
  const inner = innerPath(path, project);
  const hash = fileHash(join(project.worktree, inner));
  if (hash === undefined) return 'missing';
  const key = portable(inner, project.root);
  const known = Object.hasOwn(reading, key) ? reading[key] : undefined;
  if (!known) return 'unread';
  return known.hash === hash ? 'read' : 'changed';
}

/** The command that records a file as read now; undefined where there is no such file. */
export function readCommand(
  path: string,
  project: Project,
): { type: 'read'; path: string; hash: string } | undefined {
  const inner = innerPath(path, project);
  const hash = fileHash(join(project.worktree, inner));
  return hash === undefined ? undefined : { type: 'read', path: portable(inner, project.root), hash };
}

function innerPath(path: string, { root }: Project): string {
  const bare = path.replace(/^@/, '').replace(/^\{project_root\}\/?/, '');
  return bare.startsWith(`${root}/`) ? bare.slice(root.length + 1) : bare;
}

function fileHash(file: string): string | undefined {
  try {
    return `sha256:${createHash('sha256').update(readFileSync(file)).digest('hex')}`;
  } catch {
    return undefined;
  }
}
