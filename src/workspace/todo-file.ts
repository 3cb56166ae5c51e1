import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { digestOf } from '../store/index.ts';
import { containedFile } from './contained-file.ts';

export interface TodoPaths {
  worktree: string;
  /** Of the run. */
  directory: string;
  /** Where this machine stores the hashes of lists that it wrote, outside the repository. */
  memory: string;
}

const maxBytes = 1024 * 1024;

/**
 * Writes the list to the path of the workflow if the path is free or holds a list as Stepfast wrote it or an agent last read it:
 * an untrusted workflow must not overwrite files, and what a person wrote into the list is read first. Otherwise the list
 * stays with the run, and the reason is returned.
 */
export function writeTodoFile(
  path: string | undefined,
  content: string,
  places: TodoPaths,
): string | undefined {
  const own = join(places.directory, 'TODO.md');
  const file = path === undefined ? own : containedFile(places.worktree, path);
  const there = file === undefined ? undefined : read(file);
  const bytes = Buffer.from(content);
  const known = file === undefined ? undefined : read(memoryOf(file, places));
  const ours =
    there === undefined || there.equals(bytes) || (file === own && !known) || isKnown(known, there);
  if (file !== undefined && ours) {
    // The hash first: after a crash in between, the file counts as foreign and is not overwritten.
    replaceFile(memoryOf(file, places), `${digestOf(bytes)}\n`);
    replaceFile(file, content);
    return undefined;
  }
  if (file !== own) replaceFile(own, content);
  const shown = JSON.stringify((path ?? 'TODO.md').slice(0, 200));
  if (file === undefined)
    return keptWith(shown, 'leads out of the worktree, or into .git or .stepfast', 'name another todo_path');
  if (!known)
    return keptWith(
      shown,
      'already exists and was not written by Stepfast',
      'move it away, then send the list again',
    );
  return keptWith(shown, 'has been edited by hand', 'read it (section todo), then send the list again');
}

const keptWith = (shown: string, why: string, next: string): string =>
  `the to-do list was kept with the run only, because ${shown} ${why}: ${next}`;

export type TodoReader = 'agent' | 'person';

/**
 * The list as it is on disk, with what a person wrote into it; undefined for a file that Stepfast never wrote. After an
 * agent has read it, the next list may replace it.
 */
export function readTodoFile(
  path: string | undefined,
  places: TodoPaths,
  reader: TodoReader,
): string | undefined {
  const own = join(places.directory, 'TODO.md');
  const file = path === undefined ? own : containedFile(places.worktree, path);
  const known = file === undefined ? undefined : read(memoryOf(file, places));
  const there = file === undefined || !known ? undefined : read(file);
  if (file === undefined || !there || there.includes(0) || there.length > maxBytes) return undefined;
  if (reader === 'agent' && !isKnown(known, there))
    replaceFile(memoryOf(file, places), `${digestOf(there)}\n`);
  return there.toString('utf8');
}

const memoryOf = (file: string, { memory }: TodoPaths): string =>
  join(memory, `${digestOf(Buffer.from(file)).slice(7)}.txt`);

const isKnown = (known: Buffer | undefined, there: Buffer): boolean =>
  known?.toString('utf8').trim() === digestOf(there);

function read(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    // An unreadable file, such as a directory, counts as foreign.
    return Buffer.from([0]);
  }
}

/** Through a temporary file, so that no reader sees half of it. */
export function replaceFile(file: string, content: string): void {
  mkdirSync(dirname(file), { recursive: true });
  const temporary = `${file}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    writeFileSync(temporary, content, { flag: 'wx' });
    renameSync(temporary, file);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}
