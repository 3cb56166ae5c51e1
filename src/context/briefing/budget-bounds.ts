import { leastBriefing } from '../../machine/index.ts';
import { subtract, sum, type TextSize } from './text-size.ts';

/**
 * Upper bounds of the parts that are never shortened, and of the headings and pointers of all other parts. Their sum
 * is `leastBriefing`, the smallest budget that the machine accepts.
 */
export const bounds = {
  /** RUN and ACTION REQUIRED together. */
  status: { tokens: 490, characters: 2100 },
  identity: { tokens: 80, characters: 340 },
  where: { tokens: 80, characters: 340 },
  next: { tokens: 270, characters: 900 },
  /** Path of the task's worktree. */
  path: { tokens: 280, characters: 430 },
  /** Required reading and critical artifacts that the context lacks. */
  toRead: { tokens: 90, characters: 260 },
  toLoad: { tokens: 90, characters: 260 },
  signal: { tokens: 65, characters: 240 },
  /** The machine's limit for decisions, rejections and corrections. */
  notes: { tokens: 1150, characters: 4000 },
  feedback: { tokens: 240, characters: 680 },
  /** All feedback after the first one. */
  furtherFeedback: { tokens: 60, characters: 240 },
  /** Story and plan after a pivot. */
  pivot: { tokens: 140, characters: 480 },
  instructions: { tokens: 800, characters: 2000 },
  answers: { tokens: 200, characters: 700 },
  /** The headings of all sections, a pointer in each list, and the closing sentence. */
  frame: { tokens: 240, characters: 620 },
} as const satisfies Record<string, TextSize>;

/** Shared by instructions, answers and notes. Instructions get what the other two leave, up to their own bound. */
export const workBudget: TextSize = subtract(leastBriefing, sum(bounds.status, bounds.frame));

/** How much a list may take before every other list has been served. */
export const firstShare = {
  differences: { tokens: 300, characters: 1100 },
  done: { tokens: 350, characters: 1300 },
  reading: { tokens: 250, characters: 900 },
  reminders: { tokens: 200, characters: 700 },
  variables: { tokens: 150, characters: 500 },
  questions: { tokens: 200, characters: 700 },
  artifacts: { tokens: 250, characters: 900 },
  tasks: { tokens: 200, characters: 700 },
  kept: { tokens: 120, characters: 400 },
} as const satisfies Record<string, TextSize>;

/** One item of a list. A truncated item ends with `…`; the section on demand shows it in full. */
export const maxItem: TextSize = { tokens: 130, characters: 400 };
/** A quotation inside an item. */
export const maxPhrase: TextSize = { tokens: 60, characters: 200 };
/** A title, name or path. */
export const maxLabel: TextSize = { tokens: 40, characters: 120 };

/** A section on demand. */
export const maxSection: TextSize = { tokens: 15_000, characters: 60_000 };
/** Critical artifacts on demand. Claude Code shows 25,000 tokens of a tool's answer, and an estimate is above its count. */
export const maxArtifacts: TextSize = { tokens: 25_000, characters: 60_000 };
