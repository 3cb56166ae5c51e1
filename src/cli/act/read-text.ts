import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { notFound } from '../exit.ts';
import type { Io } from '../io.ts';

/** Words as they were given; `-` is what comes in. */
export const readText = async (text: string | undefined, io: Io): Promise<string> =>
  text === '-' ? await io.stdin.all() : (text ?? '');

/** Throws not_found. */
export function readTextFile(file: string, io: Io): string {
  try {
    return readFileSync(resolve(io.cwd, file), 'utf8');
  } catch (cause) {
    throw notFound(`The file '${file}' ${whyNot(cause)}.`, cause);
  }
}

/** An error of the file system in words. */
export function whyNot(error: unknown, done = 'read'): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const known: Record<string, string> = {
    ENOENT: done === 'read' ? 'does not exist' : 'has no directory to be in',
    EISDIR: 'is a directory',
    EACCES: `may not be ${done} by you`,
    EPERM: `may not be ${done} by you`,
  };
  return known[code] ?? `cannot be ${done}${code === '' ? '' : ` (${code})`}`;
}
