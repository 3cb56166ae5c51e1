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
  /** The first bytes, at most `maxBytes`. */
  bytes: Buffer;
  size: number;
}

export interface DirectoryEntry {
  name: string;
  kind: 'file' | 'directory' | 'link' | 'other';
  size: number;
}

export interface DirectoryListing {
  /** Unsorted. */
  entries: DirectoryEntry[];
  /** Whether the directory has more entries. */
  more: boolean;
}

/** File access for artifacts. Never returns anything from outside the base. */
export interface ArtifactFiles {
  read(target: ContainedPath, maxBytes: number): Promise<ReadBytes | ReadFailure>;
  list(target: ContainedPath, maxEntries: number): Promise<DirectoryListing | ReadFailure>;
}

/** `descriptors`: see `openContained`. Without them every directory is checked again after reading. */
export function createArtifactFiles(descriptors = '/proc/self/fd'): ArtifactFiles {
  const available = existsSync(descriptors) ? descriptors : undefined;
  return {
    read: (target, maxBytes) => withOpened(target, 'file', available, (opened) => bytesOf(opened, maxBytes)),
    list: (target, maxEntries) =>
      withOpened(target, 'directory', available, async ({ handle, path, trail }) => {
        // Through the descriptor, so that a directory swapped in meanwhile is not listed.
        if (available !== undefined) return entriesOf(join(available, String(handle.fd)), maxEntries);
        const listed = await entriesOf(path, maxEntries);
        const unmoved = await withOpened(target, 'directory', available, async (again) =>
          again.path === path && again.trail === trail ? undefined : moved,
        );
        return unmoved ?? listed;
      }),
  };
}

const moved: ReadFailure = { state: 'refused', why: 'was replaced while it was read: try again' };

async function withOpened<T>(
  target: ContainedPath,
  kind: 'file' | 'directory',
  descriptors: string | undefined,
  use: (opened: OpenedPath) => Promise<T>,
): Promise<T | ReadFailure> {
  const opened = await openContained(target, kind, descriptors);
  if (!('handle' in opened)) return opened;
  try {
    return await use(opened);
  } catch (error) {
    return { state: 'refused', why: `cannot be read (${codeOf(error)}): try again` };
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
