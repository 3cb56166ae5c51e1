import type { SectionName } from './briefing-source.ts';
import type { TextSize } from './text-size.ts';

/** A section of a briefing before the budget is split. */
export interface BriefingPart {
  name: PartName;
  title: string;
  /** The section that shows it in full on demand. */
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

/** Always shown in full. */
export interface WholePart extends BriefingPart {
  text: string;
}

/** Shown as far as the budget allows. Items are produced lazily, so that a long history costs nothing. */
export interface ListedPart extends BriefingPart {
  total: number;
  items: Iterable<string>;
  /** Artifact ids, one per item. */
  ids?: readonly string[];
  /** How much it may take before every other part has been served. */
  first: TextSize;
}
