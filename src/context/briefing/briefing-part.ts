import type { SectionName } from './briefing-source.ts';
import type { TextSize } from './text-size.ts';

/** A section of a briefing, before anything is known of the budget. */
export interface BriefingPart {
  name: PartName;
  title: string;
  /** What tells it in full. */
  ask: SectionName;
}

export type PartName =
  | 'run'
  | 'action'
  | 'instructions'
  | 'notes'
  | 'differences'
  | 'done'
  | 'reading'
  | 'reminders'
  | 'variables'
  | 'questions'
  | 'artifacts'
  | 'tasks'
  | 'kept';

/** Always shown, as it is. */
export interface WholePart extends BriefingPart {
  text: string;
}

/** Shown as far as the budget goes. Items are made when they are asked for, so that a long history costs nothing. */
export interface ListedPart extends BriefingPart {
  total: number;
  items: Iterable<string>;
  /** Of the items, where each stands for an artifact. */
  ids?: readonly string[];
  /** What it may take before every other part has had its turn. */
  first: TextSize;
}
