import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The file that a shell would start for this name; `skips` leaves folders of the PATH out. */
export function onPath(
  name: string,
  env: Readonly<Record<string, string | undefined>>,
  skips: (folder: string) => boolean = () => false,
): string | undefined {
  const ends = process.platform === 'win32' ? (env.PATHEXT ?? '.EXE;.CMD').split(';') : [''];
  for (const folder of (env.PATH ?? env.Path ?? '').split(delimiter)) {
    if (folder === '' || skips(folder)) continue;
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
