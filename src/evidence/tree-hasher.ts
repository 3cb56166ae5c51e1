/** One way to hash a worktree. Both throw `tree_unknown`. */
export interface TreeHasher {
  /** A hash for each: of the given paths only, or of everything. */
  read(covers: readonly (readonly string[] | undefined)[]): Promise<string[]>;
  /** The files that differ between two hashes that this object gave. */
  changed(before: string, after: string): Promise<string[]>;
}
