import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Environment } from '../runtime/index.ts';

/** The file that a shell would start for this name. */
export function onPath(name: string, env: Environment): string | undefined {
  const ends = process.platform === 'win32' ? (env.PATHEXT ?? '.EXE;.CMD').split(';') : [''];
  for (const folder of (env.PATH ?? env.Path ?? '').split(delimiter).filter(Boolean)) {
    const found = ends.map((end) => join(folder, name + end)).find(isProgram);
    if (found !== undefined) return found;
  }
  return undefined;
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
