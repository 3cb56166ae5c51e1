import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileErrorText } from './act/read-text.ts';
import { notFound } from './exit.ts';
import type { Io } from './io.ts';

/** Throws `not_found` where the file cannot be written. */
export function saveFile(file: string, text: string, io: Io): void {
  try {
    writeFileSync(resolve(io.cwd, file), text);
  } catch (cause) {
    throw notFound(`The file '${file}' ${fileErrorText(cause, 'written')}.`, cause);
  }
}
