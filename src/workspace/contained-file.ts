import { lstatSync, realpathSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';

/** The file at a path inside the directory; undefined if it leaves it, by link too, or is in `.git` or `.stepfast`. */
export function containedFile(directory: string, path: string): string | undefined {
  const base = realpathSync(directory);
  const inner = relative(base, resolve(base, path));
  if (inner === '' || !isOpen(inner)) return undefined;
  const file = join(base, inner);
  try {
    if (lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink()) return undefined;
    // A link may lead to a closed folder.
    return isOpen(relative(base, nearestParent(file))) ? file : undefined;
  } catch {
    // Not a valid file name.
    return undefined;
  }
}

/** Inside, and not in a folder that programs take orders from, which nested repositories have too. */
const isOpen = (inner: string): boolean =>
  !isAbsolute(inner) &&
  inner.split(/[/\\]/).every((segment) => segment !== '..' && !closed.test(plain(segment)));

const closed = /^(?:\.git|git~\d+|\.stepfast|stepfa~\d+)$/;

/** The name for file systems that ignore case and invisible characters. */
const plain = (segment: string): string =>
  segment
    .normalize('NFKC')
    .replaceAll(/\p{Cf}/gu, '')
    .toLowerCase()
    .replace(/[. ]+$|::?\$.*$/g, '');

/** The nearest existing parent, with links resolved. */
function nearestParent(file: string): string {
  for (let up = dirname(file); ; up = dirname(up)) {
    if (statSync(up, { throwIfNoEntry: false })) return realpathSync(up);
    if (up === dirname(up)) return up;
  }
}
