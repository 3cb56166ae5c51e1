import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StepfastError } from '../errors.ts';
import { slug } from '../machine/index.ts';
import type { Project } from './project.ts';

/** What `.stepfast/.gitignore` holds. */
export const ignored = 'runs/\nsessions/\nworktrees/\n';

/** `feature-20261114-k3f9x2ab`. */
export function newRun(workflow: string, now: number): string {
  const day = new Date(now).toISOString().slice(0, 10).replaceAll('-', '');
  const letters = Array.from(randomBytes(8), (byte) => (byte % 32).toString(32)).join('');
  return `${slug(workflow)}-${day}-${letters}`;
}

/** Runs are never committed, also where nobody called `init`. */
export function ignoreRuns({ directory }: Project): void {
  try {
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, '.gitignore'), ignored, { flag: 'wx' });
  } catch (cause) {
    if (existsSync(join(directory, '.gitignore'))) return;
    const why = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
    throw new StepfastError('not_writable', `${directory} cannot be made (${why})`, { cause });
  }
}
