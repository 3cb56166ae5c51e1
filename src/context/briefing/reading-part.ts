import { oneLine } from './bounded-text.ts';
import { firstRound, item } from './budget-bounds.ts';
import { firstWithin } from './text-size.ts';
import type { ListedPart } from './briefing-part.ts';
import type { BriefingSource, ReadingFile } from './briefing-source.ts';

const states = ['changed', 'unread', 'before', 'missing', 'read'] as const;
const words: Record<ReadingFile['state'], string> = {
  changed: 'changed since it was read',
  unread: 'not yet read',
  before: 'read before this context began',
  missing: 'missing',
  read: 'read',
};

/** What is still to be read comes first. */
export function readingPart({ reading }: BriefingSource): ListedPart {
  const byPath = new Map(reading.map((file) => [file.path, file.state]));
  const lines = states.flatMap((state) =>
    [...byPath].flatMap(([path, each]) =>
      each === state ? [firstWithin(`- ${oneLine(path)} (${words[state]})`, item)] : [],
    ),
  );
  return {
    name: 'reading',
    title: 'REQUIRED READING',
    ask: 'reading',
    total: lines.length,
    first: firstRound.reading,
    items: lines,
  };
}
