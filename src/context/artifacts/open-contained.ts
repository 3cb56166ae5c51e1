import { type BigIntStats, constants } from 'node:fs';
import { type FileHandle, lstat, open, readlink, realpath } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, sep } from 'node:path';

/** A path below `base`, a directory that the caller trusts. */
export interface ContainedPath {
  base: string;
  segments: readonly string[];
  /** Why the path must not be read. Called again with the path that links resolve to. */
  problem(segments: readonly string[]): string | undefined;
}

export interface OpenedPath {
  handle: FileHandle;
  /** The real path. */
  path: string;
  /** Identifies the parent directories, to detect a later swap; empty if `descriptors` are available. */
  trail: string;
  size: number;
}

export interface ReadFailure {
  state: 'missing' | 'refused';
  why: string;
  /** What the path is instead. */
  found?: 'file' | 'directory';
}

/** The fix depends on where the path comes from, so the caller adds it. */
export const doesNotExist = 'does not exist';

const maxTries = 8;
const checksPerOpen = 4;

/**
 * Opens a file or directory below the base; the caller closes it. Links are followed only to targets below the base.
 * The opened file is compared with the resolved path afterwards, so that a directory swapped for a link in between is
 * detected. `descriptors` is the directory where the system reports the real paths of open files.
 */
export async function openContained(
  target: ContainedPath,
  kind: 'file' | 'directory',
  descriptors: string | undefined,
): Promise<OpenedPath | ReadFailure> {
  const base = await realpath(target.base).catch(() => undefined);
  if (base === undefined) return { state: 'missing', why: 'is in a project directory that does not exist' };
  for (let attempt = 0; attempt < maxTries; attempt++) {
    const opened = await tryOpen({ ...target, base }, kind, descriptors);
    if (opened !== 'moved') return opened;
  }
  return {
    state: 'refused',
    why: 'was moved or replaced while it was opened: try again',
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
      why: 'leaves the project through a symbolic link: replace the link with the file',
    };
  const wrong = problem(parts);
  if (wrong !== undefined) return { state: 'refused', why: wrong };

  const trail = descriptors === undefined ? await directoryTrail(base, path) : '';
  // Checked before opening: opening a device can have side effects.
  const there = await lstat(path, { bigint: true }).catch(() => undefined);
  if (there === undefined || there.isSymbolicLink()) return 'moved';
  const problemBefore = kindProblem(there, kind);
  if (problemBefore) return problemBefore;

  let handle: FileHandle;
  try {
    handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    const code = codeOf(error);
    if (['ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO'].includes(code)) return 'moved';
    return { state: 'refused', why: `cannot be opened (${code}): check its permissions` };
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
    return { state: 'refused', why: 'is a symbolic link loop: replace the link with the file' };
  if (code !== 'ENOENT' && code !== 'ENOTDIR' && code !== 'ENAMETOOLONG')
    return { state: 'refused', why: `cannot be reached (${code}): check the permissions of its directories` };
  const link = (await lstat(asked).catch(() => undefined))?.isSymbolicLink() ?? false;
  return link
    ? { state: 'refused', why: 'is a dangling symbolic link: replace the link with the file' }
    : { state: 'missing', why: doesNotExist };
}

function kindProblem(stats: BigIntStats, kind: 'file' | 'directory'): ReadFailure | undefined {
  const found = stats.isFile() ? 'file' : stats.isDirectory() ? 'directory' : undefined;
  if (found === undefined) return { state: 'refused', why: 'is a pipe, a socket or a device: name a file' };
  if (found !== kind) return { state: 'refused', why: `is a ${found}: name a ${kind}`, found };
  // The other name may be outside the project, and there is no way to find it.
  if (kind === 'file' && stats.nlink > 1n)
    return {
      state: 'refused',
      why: 'has another hard link, possibly outside the project: copy the file',
    };
  return undefined;
}

const sameFile = (a: BigIntStats | undefined, b: BigIntStats): boolean => a?.dev === b.dev && a.ino === b.ino;

/** Checks several times, to catch a swap back and forth within one clock tick. */
async function isUnmoved(
  path: string,
  stats: BigIntStats,
  trailNow: () => Promise<string>,
  trail: string,
): Promise<boolean> {
  for (let check = 0; check < checksPerOpen; check++) {
    const there = await lstat(path, { bigint: true }).catch(() => undefined);
    if (!sameFile(there, stats) || trail !== (await trailNow())) return false;
    if ((await realpath(path).catch(() => '')) !== path) return false;
  }
  return true;
}

/** Identifies the directories from the base to the path: a swap changes the times of one of them. */
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
