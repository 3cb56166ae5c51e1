import type { Cursor, Definition, State } from '../../machine/index.ts';
import type { sectionNames } from '../../schema/index.ts';
import type { Artifact } from '../artifacts/artifact.ts';

/** The input of the briefing compiler, as plain data. */
export interface BriefingSource {
  definition: Definition;
  state: State;
  /** The position to brief; absent if several agents share a loop or no position is open. */
  cursor?: Cursor;
  /** The session to brief. */
  session?: string;
  /** Values of placeholders that the machine does not know, such as `project_root`. */
  values: Record<string, string>;
  /** Milliseconds since the epoch. */
  now: number;
  /** The current hash of the tree, if it was computed. */
  tree?: string;
  /** The worktree of the position's task, if it is not the session's own directory. */
  worktree?: string;
  /** The next action, worded for the reader. */
  next: string;
  /** How the reader requests a section: `workflow_context, section {section}`. */
  more: string;
  /** Sentences about differences from where the run was last worked on. */
  differences?: readonly string[];
  reading: readonly ReadingFile[];
  artifacts: readonly Artifact[];
  /** Full texts for sections on demand; without them the sections show the openings in the state. */
  todo?: string;
  outputs?: Readonly<Record<string, string>>;
}

export interface ReadingFile {
  /** With its `@`. */
  path: string;
  /** `before`: read by a context that has been cleared since. */
  state: 'read' | 'before' | 'unread' | 'changed' | 'missing';
}

export type SectionName = (typeof sectionNames)[number];
