import { oneLine } from './bounded-text.ts';
import type { ListedPart } from './briefing-part.ts';
import type { BriefingSource, ReadingFile } from './briefing-source.ts';
import { maxItem } from './budget-bounds.ts';
import { truncate } from './text-size.ts';

const states = ['changed', 'unread', 'before', 'missing', 'read'] as const;
const words: Record<ReadingFile['state'], string> = {
  changed: 'changed since it was read',
  unread: 'not yet read',
  before: 'read before this context began',
  missing: 'missing',
  read: 'read',
};

/** Files that still have to be read come first. */
export function readingPart({ reading }: BriefingSource): ListedPart {
  const byPath = new Map(reading.map((file) => [file.path, file.state]));
  const lines = states.flatMap((state) =>
    [...byPath].flatMap(([path, each]) =>
      each === state ? [truncate(`- ${oneLine(path)} (${words[state]})`, maxItem)] : [],
    ),
  );
  return {
    name: 'reading',
    total: lines.length,
    items: lines,
  };
}
