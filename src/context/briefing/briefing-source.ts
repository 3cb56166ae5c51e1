import type { Cursor, Definition, State } from '../../machine/index.ts';
import type { Artifact } from '../artifacts/artifact.ts';

/** Everything that a briefing is made of, as plain data. */
export interface BriefingSource {
  definition: Definition;
  state: State;
  /** The position that is briefed; none where several agents share a loop, or nothing is open. */
  cursor?: Cursor;
  /** Who is briefed. */
  session?: string;
  /** For placeholders that the machine cannot know, such as `project_root`. */
  values: Record<string, string>;
  /** Milliseconds since the epoch. */
  now: number;
  /** The hash of the tree as it is now, where somebody looked. */
  tree?: string;
  /** Where the files of the position's task are, where that is not the session's own directory. */
  worktree?: string;
  /** The next action, in the words of whoever asks. */
  next: string;
  /** How a section is asked for, in the same words: `workflow_context, section {section}`. */
  more: string;
  /** Sentences about what is not here as it was where the run was worked on last. */
  differences?: readonly string[];
  reading: readonly ReadingFile[];
  artifacts: readonly Artifact[];
  /** Whole texts for the sections that are told on demand; the openings of the state stand in for them. */
  todo?: string;
  outputs?: Readonly<Record<string, string>>;
}

export interface ReadingFile {
  /** With its `@`. */
  path: string;
  /** `before`: by a context that has been emptied since. */
  state: 'read' | 'before' | 'unread' | 'changed' | 'missing';
}

/** What a section is asked for by. */
export const sectionNames = [
  'status',
  'instructions',
  'notes',
  'done',
  'reading',
  'artifacts',
  'tasks',
  'todo',
  'outputs',
] as const;

export type SectionName = (typeof sectionNames)[number];
