import { lstatSync, realpathSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';

/** The file of a path that stays inside the directory, through no link out of it and not into git's or our own; else undefined. */
export function containedFile(directory: string, path: string): string | undefined {
  const base = realpathSync(directory);
  const inner = relative(base, resolve(base, path));
  const [first = ''] = inner.split(sep);
  if (inner === '' || first === '..' || isAbsolute(inner) || first === '.git' || first === '.stepfast')
    return undefined;
  const file = join(base, inner);
  if (lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink()) return undefined;
  const parent = nearestParent(file);
  return parent === base || parent.startsWith(base + sep) ? file : undefined;
}

/** The nearest directory above that is there, without links. */
function nearestParent(file: string): string {
  for (let up = dirname(file); ; up = dirname(up)) {
    if (statSync(up, { throwIfNoEntry: false })) return realpathSync(up);
    if (up === dirname(up)) return up;
  }
}
