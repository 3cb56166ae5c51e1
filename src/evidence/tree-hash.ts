import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StepfastError } from '../errors.ts';
import { openFileHasher } from './file-tree-hash.ts';
import { openGitHasher } from './git-tree-hash.ts';
import type { TreeHasher } from './tree-hasher.ts';

/** The state of a worktree's files: `git:` or `files:` and a hash, or why there is none. */
export type Tree = { hash: string; unknown?: undefined } | { hash?: undefined; unknown: string };

export interface TreeOptions {
  worktree: string;
  /** Paths and globs that do not count, from the worktree; what Stepfast keeps for itself never counts. */
  exclude?: readonly string[];
  boundMs?: number;
  /** Where hashes of files are remembered when there is no git. */
  cacheDirectory?: string;
}

export interface TreeWatch {
  /** The tree of each, all read at one moment; `paths` of one or the other, undefined for everything. */
  read(covers: readonly (readonly string[] | undefined)[]): Promise<Tree[]>;
  /** The files that differ between two hashes of this watch; none where they can not be named. */
  changed(before: string, after: string): Promise<string[]>;
  /** Removes what the watch keeps; must be called. */
  close(): Promise<void>;
}

/** Several looks at one worktree that can be compared. Never throws for what it finds in the worktree. */
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
    return (
      git ?? openFileHasher({ worktree, exclude, boundMs, ...(cacheDirectory ? { cacheDirectory } : {}) })
    );
  }

  const trees = (): Promise<TreeHasher> => {
    opened ??= open();
    opened.catch(() => {
      opened = undefined;
    });
    return opened;
  };

  return {
    async read(covers) {
      try {
        return (await (await trees()).read(covers)).map((hash) => ({ hash }));
      } catch (error) {
        const reason = reasonOf(error);
        return covers.map(() => ({ unknown: reason }));
      }
    },
    async changed(before, after) {
      return (await trees()).changed(before, after).catch(() => []);
    },
    async close() {
      if (directory) await rm(directory, { recursive: true, force: true, maxRetries: 3 });
      directory = undefined;
      opened = undefined;
    },
  };
}

/** The tree of a worktree as it is now; with `paths`, of those alone. */
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
