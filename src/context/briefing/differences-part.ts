import { firstRound, item } from './budget-bounds.ts';
import { lineWithin } from './text-size.ts';
import type { ListedPart } from './briefing-part.ts';
import type { BriefingSource } from './briefing-source.ts';

/** What an agent must not take for granted: another machine, another commit, files that are missing. */
export function differencesPart({ differences = [] }: BriefingSource, most = item): ListedPart {
  const lines = differences.map((difference) => `- ${lineWithin(difference, most)}`);
  return {
    name: 'differences',
    title: 'NOT AS IT WAS',
    ask: 'status',
    total: lines.length,
    first: firstRound.differences,
    items: lines,
  };
}
