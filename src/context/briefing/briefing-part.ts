import type { SectionName } from './briefing-source.ts';

/** The parts of a briefing, most important first; `ask` is the section that shows a part in full on demand. */
export const partInfo = {
  run: { title: 'RUN', ask: 'status' },
  action: { title: 'ACTION REQUIRED', ask: 'status' },
  instructions: { title: 'INSTRUCTIONS', ask: 'instructions' },
  notes: { title: 'DECISIONS AND FEEDBACK', ask: 'notes' },
  differences: { title: 'ENVIRONMENT CHANGES', ask: 'status' },
  done: { title: 'DONE', ask: 'done' },
  reading: { title: 'REQUIRED READING', ask: 'reading' },
  reminders: { title: 'KEY REMINDERS', ask: 'notes' },
  variables: { title: 'CONTEXT VARIABLES', ask: 'notes' },
  questions: { title: 'QUESTIONS AND ANSWERS', ask: 'notes' },
  artifacts: { title: 'CRITICAL ARTIFACTS', ask: 'artifacts' },
  tasks: { title: 'TASKS', ask: 'tasks' },
  kept: { title: 'SAVED', ask: 'outputs' },
} as const satisfies Record<string, { title: string; ask: SectionName }>;

export type PartName = keyof typeof partInfo;

/** Always shown in full. */
export interface WholePart {
  name: Extract<PartName, 'run' | 'action' | 'instructions' | 'notes'>;
  text: string;
}

/** Shown as far as the budget allows. Items are produced lazily, so that a long history costs nothing. */
export interface ListedPart {
  name: Exclude<PartName, WholePart['name']>;
  total: number;
  items: Iterable<string>;
  /** Artifact ids, one per item. */
  ids?: readonly string[];
}

export type BriefingPart = WholePart | ListedPart;
