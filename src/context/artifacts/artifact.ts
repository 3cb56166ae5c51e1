import type { CriticalArtifact } from '../../machine/index.ts';

/** A critical artifact at one moment: what a briefing may show of it. */
export interface Artifact {
  id: string;
  type: CriticalArtifact['type'];
  /** The workflow's words for it, else its id. */
  description: string;
  required: boolean;
  /** The `reload_triggers` of the workflow; `session_start` where it names none. */
  triggers: readonly string[];
  content: ArtifactContent;
}

export type ArtifactContent =
  /** `source` is how the agent finds it: `@docs/plan.md`, or `git`. `text` has no secrets. */
  | {
      state: 'loaded';
      source: string;
      text: string;
      hash: string;
      bytes: number;
      warnings: readonly string[];
    }
  /** In the context of whoever asks, unchanged since. */
  | { state: 'kept'; source: string; since: number }
  /** A slash command that the agent is asked to run; `done` after its note of kind reading. */
  | { state: 'command'; command: string; done: boolean }
  /** Its condition does not hold. */
  | { state: 'not_needed' }
  /** Nobody knows whether it is needed: its condition cannot be evaluated. Blocks nothing. */
  | { state: 'unclear'; why: string }
  /** `why` says what is wrong and what mends it, and quotes nothing of the content. */
  | { state: 'missing' | 'refused'; source?: string; why: string };
