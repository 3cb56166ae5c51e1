import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, statSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { writeNoFollow } from '../store/index.ts';

/** A name of fixed form for what has any. */
export const short = (parts: unknown): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16);

export function names(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** The general removal is loaded when it is first used, and costs more than the rest of a hook that has nothing to do. */
export function unlinkQuietly(file: string): void {
  try {
    unlinkSync(file);
  } catch {
    // The other copy of this hook was first.
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

/** To put one file in the place of another waits for the disk, which costs more than most of a hook. */
function setAside(file: string): void {
  unlinkQuietly(`${file}.old`);
  try {
    renameSync(file, `${file}.old`);
  } catch {
    // There was none.
  }
}

/** By rename: another hook of the session may read it at the same moment. */
export function writeWhole(file: string, text: string): void {
  try {
    mkdirSync(join(file, '..'), { recursive: true });
    const temporary = `${file}.${process.pid}.tmp`;
    writeNoFollow(temporary, text);
    setAside(file);
    renameSync(temporary, file);
  } catch {
    // A disk that is full or read-only keeps nobody from being briefed.
  }
}
