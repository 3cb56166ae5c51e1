import { createHash } from 'node:crypto';
import {
  closeSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  statSync,
  unlinkSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { writeNoFollow } from '../store/index.ts';

/** A file name of fixed length for any value. */
export const short = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 16);

export const makeFolder = (folder: string): void => void mkdirSync(folder, { recursive: true });

export function names(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

export function unlinkQuietly(file: string): void {
  try {
    unlinkSync(file);
  } catch {
    // Another copy of this hook was first.
  }
}

export const timeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;

export function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}

/** Recent records are near the end of a transcript. */
const maxTail = 4 * 1024 * 1024;

/** The end of a file; undefined where it cannot be read. */
export function endOf(file: string): string | undefined {
  try {
    const handle = openSync(file, 'r');
    try {
      const { size } = fstatSync(handle);
      const bytes = Buffer.alloc(Math.min(size, maxTail));
      const length = readSync(handle, bytes, 0, bytes.length, size - bytes.length);
      return bytes.toString('utf8', 0, length);
    } finally {
      closeSync(handle);
    }
  } catch {
    return undefined;
  }
}

/** Renaming onto an existing file waits for the disk on some file systems, which takes longer than most of a hook. */
function setAside(file: string): void {
  unlinkQuietly(`${file}.old`);
  try {
    renameSync(file, `${file}.old`);
  } catch {
    // There was none.
  }
}

/** Replaces the file by a rename, because another hook of the session may read it at the same time. */
export function writeWhole(file: string, text: string): void {
  try {
    makeFolder(dirname(file));
    const temporary = `${file}.${process.pid}.tmp`;
    writeNoFollow(temporary, text);
    setAside(file);
    renameSync(temporary, file);
  } catch {
    // A full or read-only disk must not prevent a briefing.
  }
}
