import type { ListedPart } from './briefing-part.ts';
import type { BriefingSource } from './briefing-source.ts';
import { firstShare, maxItem } from './budget-bounds.ts';
import { truncateLine } from './text-size.ts';

/** What an agent must not take for granted: another machine, another commit, files that are missing. */
export function differencesPart({ differences = [] }: BriefingSource, most = maxItem): ListedPart {
  const lines = differences.map((difference) => `- ${truncateLine(difference, most)}`);
  return {
    name: 'differences',
    title: 'NOT AS IT WAS',
    ask: 'status',
    total: lines.length,
    first: firstShare.differences,
    items: lines,
  };
}
