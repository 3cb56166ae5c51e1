import type { Scalar } from './definition.ts';

/** One part of a workflow that can act on a machine: what a person trusts. */
export type Grant =
  | { run: string }
  /** A command for each new worktree. */
  | { setup: string }
  /** Files that each new worktree gets. */
  | { copy: string }
  /** Commands get the value as a variable. */
  | { input: string; default: Scalar }
  | { agent: string; tools: readonly string[] }
  | { agent: string; cannot: readonly string[] }
  | { agent: string; permissions: string };

export interface GrantChanges {
  added: Grant[];
  removed: Grant[];
}
