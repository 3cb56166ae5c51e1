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

/**
 * Writes the list to the path of the workflow if the path is free or holds a list that Stepfast wrote: an untrusted
 * workflow must not overwrite files. Otherwise writes it to the run's folder and returns the reason.
 */
export function writeTodoFile(
  path: string | undefined,
  content: string,
  { worktree, directory, memory }: TodoPaths,
): string | undefined {
  const own = join(directory, 'TODO.md');
  if (path === undefined) {
    replaceFile(own, content);
    return undefined;
  }
  const file = containedFile(worktree, path);
  const known = file === undefined ? '' : join(memory, `${digestOf(Buffer.from(file)).slice(7)}.txt`);
  const there = file === undefined ? undefined : read(file);
  const bytes = Buffer.from(content);
  const ours =
    there === undefined || there.equals(bytes) || read(known)?.toString('utf8').trim() === digestOf(there);
  if (file !== undefined && ours) {
    // The hash first: after a crash in between, the file counts as foreign and is not overwritten.
    replaceFile(known, `${digestOf(bytes)}\n`);
    replaceFile(file, content);
    return undefined;
  }
  replaceFile(own, content);
  const shown = JSON.stringify(path.slice(0, 200));
  const why =
    file === undefined
      ? 'leads out of the worktree, or into .git or .stepfast'
      : 'is there already and is no list of ours as it was written';
  const next = file === undefined ? 'name another todo_path' : 'move it away, then send the list again';
  return `the to-do list was kept with the run only, because ${shown} ${why}: ${next}`;
}

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
