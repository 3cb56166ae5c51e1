/** Paths that Stepfast writes during a run: no tree hash covers them. */
export const stepfastFiles: readonly string[] = ['.stepfast/runs', '.stepfast/sessions'];

/** Hashes a worktree. Both methods throw `tree_unknown`. */
export interface TreeHasher {
  /** One hash per entry: of the given paths, or of everything. */
  read(covers: readonly (readonly string[] | undefined)[]): Promise<string[]>;
  /** The files that differ between two hashes of this object. */
  changed(before: string, after: string): Promise<string[]>;
}
