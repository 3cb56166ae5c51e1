import type { loadArtifacts } from '../../context/index.ts';

type Request = Parameters<typeof loadArtifacts>[0];

const refused = {
  state: 'refused' as const,
  why: 'is not readable here: read it in your checkout',
};

/** A disk that has nothing and touches nothing. */
export const noFiles: NonNullable<Request['files']> = {
  read: async () => refused,
  list: async () => refused,
};

/** No path of a file system: what is told of files is told from the top of the project. */
export const nowhere = { root: '/', worktree: '/', directory: '/.stepfast', git: false } as const;
