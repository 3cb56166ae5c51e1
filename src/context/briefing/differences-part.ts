import type { ListedPart } from './briefing-part.ts';
import type { BriefingSource } from './briefing-source.ts';
import { maxItem } from './budget-bounds.ts';
import { truncateLine } from './text-size.ts';

/** Differences from where the run was last worked on: another machine, another commit, missing files. */
export function differencesPart({ differences = [] }: BriefingSource, most = maxItem): ListedPart {
  const lines = differences.map((difference) => `- ${truncateLine(difference, most)}`);
  return {
    name: 'differences',
    total: lines.length,
    items: lines,
  };
}
