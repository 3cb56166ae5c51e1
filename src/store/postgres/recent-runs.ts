import type { State } from '../../machine/index.ts';
import type { Version } from '../store.ts';
import { type BoundedCache, createBoundedCache } from './bounded-cache.ts';

/** A run as this process last saw it. Other processes change runs too, so the database must check any use of it. */
export interface RecentRun {
  version: Version;
  /** The hash of the definition. */
  definition: string;
  /** A separate copy, because callers may keep parts of the original. */
  state: State;
  /** The length of the state's JSON. */
  size: number;
}

export type RecentRuns = BoundedCache<RecentRun>;

const maxCharacters = 64 * 1024 * 1024;

export const createRecentRuns = (): RecentRuns => createBoundedCache(maxCharacters);
