import { type BigIntStats, constants } from 'node:fs';
import { type FileHandle, lstat, open, readlink, realpath } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, sep } from 'node:path';

/** Where a place of the project is, as its parts below `base`, a directory that the caller trusts. */
export interface ContainedPath {
  base: string;
  segments: readonly string[];
  /** Why nobody may look there; asked again for the place that links lead to. */
  problem(segments: readonly string[]): string | undefined;
}

export interface OpenedPath {
  handle: FileHandle;
  /** Its real path. */
  path: string;
  /** Tells whether a folder on the way was changed since; empty where `descriptors` tell. */
  trail: string;
  size: number;
}

export interface ReadFailure {
  state: 'missing' | 'refused';
  why: string;
  /** What is there instead of what was asked for. */
  found?: 'file' | 'directory';
}

/** What mends it depends on who named the path. */
export const doesNotExist = 'does not exist';

const maxTries = 8;
const checksPerOpen = 4;

/**
 * Opens a file or directory below the base; the caller closes it. A link counts as the place that it leads to, which
 * must be below the base too. What was opened is compared with that place afterwards, so that a folder which was swapped
 * for a link in between gives nothing. `descriptors` is the folder where the system tells the real path of open files.
 */
export async function openContained(
  place: ContainedPath,
  kind: 'file' | 'directory',
  descriptors: string | undefined,
): Promise<OpenedPath | ReadFailure> {
  const base = await realpath(place.base).catch(() => undefined);
  if (base === undefined) return { state: 'missing', why: 'is in a project folder that is not there' };
  for (let attempt = 0; attempt < maxTries; attempt++) {
    const opened = await tryOpen({ ...place, base }, kind, descriptors);
    if (opened !== 'moved') return opened;
  }
  return {
    state: 'refused',
    why: 'was moved or replaced while it was opened: ask again when nothing changes it',
  };
}

async function tryOpen(
  { base, segments, problem }: ContainedPath,
  kind: 'file' | 'directory',
  descriptors: string | undefined,
): Promise<OpenedPath | ReadFailure | 'moved'> {
  const asked = join(base, ...segments);
  let path: string;
  try {
    path = await realpath(asked);
  } catch (error) {
    return unreachable(asked, error);
  }
  const inner = relative(base, path);
  const parts = inner === '' ? [] : inner.split(sep);
  if (parts[0] === '..' || isAbsolute(inner))
    return {
      state: 'refused',
      why: 'leads out of the project by a symbolic link: put the file itself there',
    };
  const wrong = problem(parts);
  if (wrong !== undefined) return { state: 'refused', why: wrong };

  const trail = descriptors === undefined ? await directoryTrail(base, path) : '';
  // Opening a device can do something, so what is there is looked at before.
  const there = await lstat(path, { bigint: true }).catch(() => undefined);
  if (there === undefined || there.isSymbolicLink()) return 'moved';
  const unfit = kindProblem(there, kind);
  if (unfit) return unfit;

  let handle: FileHandle;
  try {
    handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    const code = codeOf(error);
    if (['ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO'].includes(code)) return 'moved';
    return { state: 'refused', why: `cannot be opened (${code}): look at its permissions` };
  }
  const stats = await handle.stat({ bigint: true });
  const opened = kindProblem(stats, kind);
  const inPlace =
    descriptors === undefined
      ? sameFile(there, stats) && (await isUnmoved(path, stats, () => directoryTrail(base, path), trail))
      : (await readlink(join(descriptors, String(handle.fd))).catch(() => '')) === path;
  if (!opened && inPlace) return { handle, path, trail, size: Number(stats.size) };
  await handle.close();
  return opened ?? 'moved';
}

async function unreachable(asked: string, error: unknown): Promise<ReadFailure> {
  const code = codeOf(error);
  if (code === 'ELOOP')
    return { state: 'refused', why: 'is a circle of symbolic links: put the file itself there' };
  if (code !== 'ENOENT' && code !== 'ENOTDIR' && code !== 'ENAMETOOLONG')
    return { state: 'refused', why: `cannot be reached (${code}): look at the permissions of its folders` };
  const link = (await lstat(asked).catch(() => undefined))?.isSymbolicLink() ?? false;
  return link
    ? { state: 'refused', why: 'is a symbolic link to nothing: put the file itself there' }
    : { state: 'missing', why: doesNotExist };
}

function kindProblem(stats: BigIntStats, kind: 'file' | 'directory'): ReadFailure | undefined {
  const found = stats.isFile() ? 'file' : stats.isDirectory() ? 'directory' : undefined;
  if (found === undefined)
    return { state: 'refused', why: 'is no file but a pipe, a socket or a device: name a file' };
  if (found !== kind) return { state: 'refused', why: `is a ${found}: name a ${kind}`, found };
  // The other name may be anywhere, and nothing tells where.
  if (kind === 'file' && stats.nlink > 1n)
    return {
      state: 'refused',
      why: 'has another name by a hard link, perhaps outside the project: copy the file',
    };
  return undefined;
}

const sameFile = (a: BigIntStats | undefined, b: BigIntStats): boolean => a?.dev === b.dev && a.ino === b.ino;

/** Looked at several times: a swap that goes back and forth within one tick of the clock is seen by one of them. */
async function isUnmoved(
  path: string,
  stats: BigIntStats,
  trailNow: () => Promise<string>,
  trail: string,
): Promise<boolean> {
  for (let look = 0; look < checksPerOpen; look++) {
    const there = await lstat(path, { bigint: true }).catch(() => undefined);
    if (!sameFile(there, stats) || trail !== (await trailNow())) return false;
    if ((await realpath(path).catch(() => '')) !== path) return false;
  }
  return true;
}

/** The directories from the base to the path: a swap in one of them changes its times. */
async function directoryTrail(base: string, path: string): Promise<string> {
  const marks: string[] = [];
  for (let directory = dirname(path); directory.length >= base.length; directory = dirname(directory)) {
    const stats = await lstat(directory, { bigint: true }).catch(() => undefined);
    marks.push(
      stats?.isDirectory()
        ? `${stats.dev}:${stats.ino}:${stats.mtimeNs}:${stats.ctimeNs}`
        : `no ${marks.length}`,
    );
    if (directory === dirname(directory)) break;
  }
  return marks.join(' ');
}

export const codeOf = (error: unknown): string =>
  typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string'
    ? error.code
    : 'unknown';
