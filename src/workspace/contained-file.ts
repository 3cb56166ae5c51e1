import { lstatSync, realpathSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';

/** The file of a path that stays inside the directory, through no link out of it and not into git's or our own; else undefined. */
export function containedFile(directory: string, path: string): string | undefined {
  const base = realpathSync(directory);
  const inner = relative(base, resolve(base, path));
  if (inner === '' || !isOpen(inner)) return undefined;
  const file = join(base, inner);
  try {
    if (lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink()) return undefined;
    // A link inside may lead to what is not open.
    return isOpen(relative(base, nearestParent(file))) ? file : undefined;
  } catch {
    // A name that no file can have.
    return undefined;
  }
}

/** Inside, and nowhere in a folder that programs take orders from: a repository in a folder below has one too. */
const isOpen = (inner: string): boolean =>
  !isAbsolute(inner) &&
  inner.split(/[/\\]/).every((segment) => segment !== '..' && !closed.test(plain(segment)));

const closed = /^(?:\.git|git~\d+|\.stepfast|stepfa~\d+)$/;

/** As file systems that fold case and leave out what is not seen look it up. */
const plain = (segment: string): string =>
  segment
    .normalize('NFKC')
    .replaceAll(/\p{Cf}/gu, '')
    .toLowerCase()
    .replace(/[. ]+$|::?\$.*$/g, '');

/** The nearest directory above that is there, without links. */
function nearestParent(file: string): string {
  for (let up = dirname(file); ; up = dirname(up)) {
    if (statSync(up, { throwIfNoEntry: false })) return realpathSync(up);
    if (up === dirname(up)) return up;
  }
}
