import { existsSync, lstatSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { isAbsolute, join, relative, sep } from 'node:path';
import { StepfastError } from '../errors.ts';
import type { Project } from './project.ts';

const folders = ['runs', 'sessions', 'worktrees'];
/** Deeper ones, into which files of fixed names are written. */
const deeper = ['sessions/marks', 'sessions/marks/because'];
/** What `.stepfast/.gitignore` holds. */
export const ignored = folders.map((name) => `${name}/\n`).join('');

/** Throws `not_writable` where what we write would land outside: a link comes along with a repository. */
export function requireOwnFolders({ root, directory }: Project, more: readonly string[] = []): void {
  for (const path of [directory, ...[...folders, ...deeper, ...more].map((name) => join(directory, name))]) {
    if (!isLink(path)) continue;
    const inner = relative(root, real(path) ?? '..');
    if (inner.split(sep)[0] !== '..' && !isAbsolute(inner)) continue;
    const message = `${path} is a link that leads out of the project: remove it, and look who made it`;
    throw new StepfastError('not_writable', message);
  }
}

function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink();
  } catch {
    // It is not there, or what it would be in is no folder.
    return false;
  }
}

function real(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    // What it leads to would be made by writing.
    return undefined;
  }
}

/** Runs are never committed, also where nobody called `init`. */
export function ignoreRuns(project: Project): void {
  requireOwnFolders(project);
  const { directory } = project;
  try {
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, '.gitignore'), ignored, { flag: 'wx' });
  } catch (cause) {
    if (existsSync(join(directory, '.gitignore'))) return;
    const why = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
    throw new StepfastError('not_writable', `${directory} cannot be made (${why})`, { cause });
  }
}
