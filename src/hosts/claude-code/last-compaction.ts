import type { Compaction } from '../../runtime/index.ts';
import { partIn, textIn } from '../payload.ts';
import { parseRecord } from '../transcript-record.ts';

/** The host records a boundary with what triggered it, then the summary as a message of the user. */
export function lastCompaction(transcript: string): Compaction | undefined {
  const lines = transcript.split('\n');
  const boundary = (line: string): boolean =>
    line.includes('"compact_boundary"') && parseRecord(line)?.subtype === 'compact_boundary';
  const first = lines.findLastIndex(boundary);
  const began = parseRecord(lines[first] ?? '');
  if (!began) return undefined;
  const summarized = lines
    .slice(first)
    .filter((line) => line.includes('"isCompactSummary"'))
    .map((line) => parseRecord(line))
    .find((record) => record?.isCompactSummary === true);
  const summary = summarized && textIn(partIn(summarized, 'message'), 'content');
  if (summary === undefined) return undefined;
  return { trigger: partIn(began, 'compactMetadata')?.trigger === 'auto' ? 'auto' : 'manual', summary };
}
