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
    throw notFound(
      `The file '${file}' cannot be read: ${cause instanceof Error ? cause.message : cause}`,
      cause,
    );
  }
}
