import { existsSync } from 'node:fs';
import { lstat, opendir } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type ContainedPath,
  codeOf,
  type OpenedPath,
  openContained,
  type ReadFailure,
} from './open-contained.ts';

export interface ReadBytes {
  /** From the beginning, `maxBytes` at most. */
  bytes: Buffer;
  size: number;
}

export interface DirectoryEntry {
  name: string;
  kind: 'file' | 'directory' | 'link' | 'other';
  size: number;
}

export interface DirectoryListing {
  /** In no order. */
  entries: DirectoryEntry[];
  /** There are more than were read. */
  more: boolean;
}

/** All that artifacts need of a disk. Nothing of a place outside the base is ever returned. */
export interface ArtifactFiles {
  read(place: ContainedPath, maxBytes: number): Promise<ReadBytes | ReadFailure>;
  list(place: ContainedPath, maxEntries: number): Promise<DirectoryListing | ReadFailure>;
}

/** `descriptors`: see `openContained`; where the system has none, everything is looked at twice. */
export function createArtifactFiles(descriptors = '/proc/self/fd'): ArtifactFiles {
  const told = existsSync(descriptors) ? descriptors : undefined;
  return {
    read: (place, maxBytes) => withOpened(place, 'file', told, (opened) => bytesOf(opened, maxBytes)),
    list: (place, maxEntries) =>
      withOpened(place, 'directory', told, async ({ handle, path, trail }) => {
        // By the descriptor, so that a directory put in its place is not the one that is listed.
        if (told !== undefined) return entriesOf(join(told, String(handle.fd)), maxEntries);
        const listed = await entriesOf(path, maxEntries);
        const unmoved = await withOpened(place, 'directory', told, async (again) =>
          again.path === path && again.trail === trail ? undefined : moved,
        );
        return unmoved ?? listed;
      }),
  };
}

const moved: ReadFailure = { state: 'refused', why: 'was replaced while it was read: ask again' };

async function withOpened<T>(
  place: ContainedPath,
  kind: 'file' | 'directory',
  descriptors: string | undefined,
  use: (opened: OpenedPath) => Promise<T>,
): Promise<T | ReadFailure> {
  const opened = await openContained(place, kind, descriptors);
  if (!('handle' in opened)) return opened;
  try {
    return await use(opened);
  } catch (error) {
    return { state: 'refused', why: `cannot be read (${codeOf(error)}): ask again` };
  } finally {
    await opened.handle.close();
  }
}

async function bytesOf({ handle, size }: OpenedPath, maxBytes: number): Promise<ReadBytes> {
  const buffer = Buffer.alloc(Math.min(size, maxBytes));
  let length = 0;
  while (length < buffer.length) {
    const { bytesRead } = await handle.read(buffer, length, buffer.length - length, length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return { bytes: buffer.subarray(0, length), size };
}

async function entriesOf(directory: string, maxEntries: number): Promise<DirectoryListing> {
  const entries: DirectoryEntry[] = [];
  for await (const { name } of await opendir(directory)) {
    if (entries.length === maxEntries) return { entries, more: true };
    const stats = await lstat(join(directory, name)).catch(() => undefined);
    if (stats === undefined) continue;
    const kind = stats.isFile()
      ? 'file'
      : stats.isDirectory()
        ? 'directory'
        : stats.isSymbolicLink()
          ? 'link'
          : 'other';
    entries.push({ name, kind, size: stats.size });
  }
  return { entries, more: false };
}
