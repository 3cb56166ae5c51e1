import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StepfastError } from '../errors.ts';
import { openFileHasher } from './file-tree-hash.ts';
import { openGitHasher } from './git-tree-hash.ts';
import type { TreeHasher } from './tree-hasher.ts';

/** The hash of a worktree's files, prefixed `git:` or `files:`, or the reason why it is unknown. */
export type Tree = { hash: string; unknown?: undefined } | { hash?: undefined; unknown: string };

export interface TreeOptions {
  worktree: string;
  /** Paths and globs to leave out, relative to the worktree. Stepfast's own files are always left out. */
  exclude?: readonly string[];
  boundMs?: number | undefined;
  /** Where file hashes are cached without git. */
  cacheDirectory?: string | undefined;
}

export interface TreeWatch {
  /** One tree per entry, all read at the same moment: of the given paths, or of everything. */
  read(covers: readonly (readonly string[] | undefined)[]): Promise<Tree[]>;
  /** The files that differ between two hashes of this watch; empty if they are unknown. */
  changed(before: string, after: string): Promise<string[]>;
  /** Removes the temporary files; must be called. */
  close(): Promise<void>;
}

/** Reads a worktree several times for comparison. Never throws because of the worktree's content. */
export function createTreeWatch({
  worktree,
  exclude = [],
  boundMs = 5000,
  cacheDirectory,
}: TreeOptions): TreeWatch {
  let directory: string | undefined;
  let opened: Promise<TreeHasher> | undefined;

  async function open(): Promise<TreeHasher> {
    directory ??= await mkdtemp(join(tmpdir(), 'stepfast-tree-'));
    const git = await openGitHasher({ worktree, exclude, directory, boundMs });
    return git ?? openFileHasher({ worktree, exclude, boundMs, cacheDirectory });
  }

  const hasher = (): Promise<TreeHasher> => {
    opened ??= open();
    opened.catch(() => {
      opened = undefined;
    });
    return opened;
  };

  return {
    async read(covers) {
      try {
        return (await (await hasher()).read(covers)).map((hash) => ({ hash }));
      } catch (error) {
        const reason = reasonOf(error);
        return covers.map(() => ({ unknown: reason }));
      }
    },
    async changed(before, after) {
      return (await hasher()).changed(before, after).catch(() => []);
    },
    async close() {
      if (directory) await rm(directory, { recursive: true, force: true, maxRetries: 3 });
      directory = undefined;
      opened = undefined;
    },
  };
}

/** The current tree of a worktree, or of `paths` in it. */
export async function treeOf({
  paths,
  ...options
}: TreeOptions & { paths?: readonly string[] }): Promise<Tree> {
  const watch = createTreeWatch(options);
  try {
    const [tree = { unknown: 'nothing was read' }] = await watch.read([paths]);
    return tree;
  } finally {
    await watch.close();
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof StepfastError) return error.message;
  return `the worktree cannot be read: ${error instanceof Error ? error.message : String(error)}`;
}
