import { leastBriefing } from '../../machine/index.ts';
import { subtract, sum, type TextSize } from './text-size.ts';

/**
 * What the parts that are always whole may cost, and what the headings and pointers of all others do. Together they
 * are what the machine promises as the least budget of a briefing.
 */
export const bounds = {
  /** Run and next action together. */
  status: { tokens: 490, characters: 2100 },
  identity: { tokens: 80, characters: 340 },
  where: { tokens: 80, characters: 340 },
  next: { tokens: 270, characters: 900 },
  /** Of the task's files. */
  path: { tokens: 280, characters: 430 },
  signal: { tokens: 65, characters: 240 },
  /** A note pool as large as the machine lets it grow. */
  notes: { tokens: 1150, characters: 4000 },
  feedback: { tokens: 240, characters: 680 },
  /** What feedback beside the first has together. */
  furtherFeedback: { tokens: 60, characters: 240 },
  /** Story and plan after a pivot. */
  pivot: { tokens: 140, characters: 480 },
  instructions: { tokens: 800, characters: 2000 },
  answers: { tokens: 200, characters: 700 },
  /** The headings of all sections, a pointer in each that is listed, and the sentence that says how to ask. */
  frame: { tokens: 240, characters: 620 },
} as const satisfies Record<string, TextSize>;

/** What instructions, answers and notes share: the instructions get what the others leave, up to their own bound. */
export const workBudget: TextSize = subtract(leastBriefing, sum(bounds.status, bounds.frame));

/** What a listed section may take before every other has had its turn. */
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

/** What one item of a list may cost: a cut item ends with `…`, and its section is told in full on demand. */
export const maxItem: TextSize = { tokens: 130, characters: 400 };
/** Quotations inside an item. */
export const maxPhrase: TextSize = { tokens: 60, characters: 200 };
/** Titles, names and paths. */
export const maxLabel: TextSize = { tokens: 40, characters: 120 };

/** One section on demand. */
export const maxSection: TextSize = { tokens: 15_000, characters: 60_000 };
