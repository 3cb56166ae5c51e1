import type { State } from '../../machine/index.ts';
import type { Version } from '../store.ts';
import { type BoundedCache, createBoundedCache } from './bounded-cache.ts';

/** A run as this process last saw it. Others move runs as well: it is good for a guess that the database checks. */
export interface RecentRun {
  version: Version;
  /** The hash of its definition. */
  definition: string;
  /** An own copy: a caller may hold parts of what it was given. */
  state: State;
  /** Characters of its JSON. */
  size: number;
}

export type RecentRuns = BoundedCache<RecentRun>;

const maxCharacters = 64 * 1024 * 1024;

export const createRecentRuns = (): RecentRuns => createBoundedCache(maxCharacters);
