import type { CriticalArtifact } from '../../machine/index.ts';

/** A critical artifact as it is now. */
export interface Artifact {
  id: string;
  type: CriticalArtifact['type'];
  /** The workflow's description, or the id without one. */
  description: string;
  required: boolean;
  /** The workflow's `reload_triggers`; `session_start` by default. */
  triggers: readonly string[];
  content: ArtifactContent;
}

export type ArtifactContent =
  /** `source` is `@docs/plan.md` or `git`. Secrets are removed from `text`. */
  | {
      state: 'loaded';
      source: string;
      text: string;
      hash: string;
      bytes: number;
      warnings: readonly string[];
    }
  /** Unchanged since the session received it. */
  | { state: 'kept'; source: string; since: number }
  /** A slash command for the agent; `done` once the agent noted it (kind reading). */
  | { state: 'command'; command: string; done: boolean }
  /** The artifact's condition is false. */
  | { state: 'not_needed' }
  /** The condition cannot be evaluated. Does not block the run. */
  | { state: 'unclear'; why: string }
  /** `why` names the problem and the fix, and never quotes the content. */
  | { state: 'missing' | 'refused'; source?: string; why: string };
