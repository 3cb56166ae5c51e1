import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { own, type State } from '../machine/index.ts';
import { containedFile } from './contained-file.ts';
import { type Project, portable } from './project.ts';

export type ReadState = 'read' | 'unread' | 'changed' | 'missing';

/** Whether the current version of a file was read. The path may begin with `@` or `{project_root}/`. */
export function readState({ reading }: State, path: string, project: Project): ReadState {
  const inner = innerPath(path, project);
  const hash = fileHash(inner, project);
  if (hash === undefined) return 'missing';
  const known = entryOf(reading, inner, project);
  if (!known) return 'unread';
  return known.hash === hash ? 'read' : 'changed';
}

/** When and by whom a file was read last. */
export const readEntry = ({ reading }: State, path: string, project: Project) =>
  entryOf(reading, innerPath(path, project), project);

/** Read by another session, or before the last reset of this one. */
export function wasReadBefore(state: State, path: string, project: Project, session: string): boolean {
  const read = readEntry(state, path, project);
  const since = own(state.sessions, session)?.resetAt ?? 0;
  return read !== undefined && (read.session !== session || read.now < since);
}

function entryOf(reading: State['reading'], inner: string, { root }: Project) {
  const key = portable(inner, root);
  return Object.hasOwn(reading, key) ? reading[key] : undefined;
}

/** The command that records a file as read now; undefined without such a file. */
export function readCommand(
  path: string,
  project: Project,
): { type: 'read'; path: string; hash: string } | undefined {
  const inner = innerPath(path, project);
  const hash = fileHash(inner, project);
  return hash === undefined ? undefined : { type: 'read', path: portable(inner, project.root), hash };
}

/** Relative to the worktree; an absolute path in the project's root means the same path here. */
function innerPath(path: string, { root, worktree }: Project): string {
  const bare = path.replace(/^@/, '').replace(/^\{project_root\}\/?/, '');
  const base = [worktree, root].find((each) => bare.startsWith(`${each}/`));
  return base === undefined ? bare : bare.slice(base.length + 1);
}

const maxBytes = 16 * 1024 * 1024;

/** Only plain files inside the worktree: a pipe would block, a device never ends. */
function fileHash(inner: string, { worktree }: Project): string | undefined {
  try {
    const file = containedFile(worktree, inner);
    const stats = file === undefined ? undefined : statSync(file);
    if (file === undefined || !stats?.isFile() || stats.size > maxBytes) return undefined;
    return `sha256:${createHash('sha256').update(readFileSync(file)).digest('hex')}`;
  } catch {
    return undefined;
  }
}
