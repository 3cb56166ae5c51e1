import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { notFound } from '../exit.ts';
import type { Io } from '../io.ts';

/** The argument itself, or stdin for `-`. */
export const readText = async (text: string | undefined, io: Io): Promise<string> =>
  text === '-' ? await io.stdin.all() : (text ?? '');

/** Throws not_found. */
export function readTextFile(file: string, io: Io): string {
  try {
    return readFileSync(resolve(io.cwd, file), 'utf8');
  } catch (cause) {
    throw notFound(`The file '${file}' ${fileErrorText(cause)}.`, cause);
  }
}

/** Why a file cannot be read or written, after its name. */
export function fileErrorText(error: unknown, done = 'read'): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const known: Record<string, string> = {
    ENOENT: done === 'read' ? 'does not exist' : 'is in a directory that does not exist',
    EISDIR: 'is a directory',
    EACCES: `cannot be ${done}: permission denied`,
    EPERM: `cannot be ${done}: permission denied`,
  };
  return known[code] ?? `cannot be ${done}${code === '' ? '' : ` (${code})`}`;
}
