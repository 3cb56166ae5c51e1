import { existsSync, lstatSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { isAbsolute, join, relative, sep } from 'node:path';
import { StepfastError } from '../errors.ts';
import type { Project } from './project.ts';

const folders = ['runs', 'sessions', 'worktrees'];
const deeper = ['sessions/marks', 'sessions/marks/because'];
/** The content of `.stepfast/.gitignore`. */
export const ignored = folders.map((name) => `${name}/\n`).join('');

/** Throws `not_writable` if a link, which a repository may contain, leads out of the project. */
export function requireOwnFolders({ root, directory }: Project, more: readonly string[] = []): void {
  for (const path of [directory, ...[...folders, ...deeper, ...more].map((name) => join(directory, name))]) {
    if (!isLink(path)) continue;
    const inner = relative(root, real(path) ?? '..');
    if (inner.split(sep)[0] !== '..' && !isAbsolute(inner)) continue;
    const message = `${path} is a link that leads out of the project: remove it, and check where it came from`;
    throw new StepfastError('not_writable', message);
  }
}

function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink();
  } catch {
    // It does not exist.
    return false;
  }
}

function real(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    // The target does not exist; writing would create it.
    return undefined;
  }
}

/** Runs are never committed, even without `stepfast init`. */
export function ignoreRuns(project: Project): void {
  requireOwnFolders(project);
  const { directory } = project;
  try {
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, '.gitignore'), ignored, { flag: 'wx' });
  } catch (cause) {
    if (existsSync(join(directory, '.gitignore'))) return;
    const why = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
    throw new StepfastError('not_writable', `${directory} cannot be created (${why})`, { cause });
  }
}
