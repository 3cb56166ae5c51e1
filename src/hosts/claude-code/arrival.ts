import type { Arrival } from '../../runtime/index.ts';
import { type Payload, partIn } from '../payload.ts';
import { parseRecord } from '../transcript-record.ts';

/**
 * The host records text that it accepted from a hook as an attachment. The record with the output of the hook has the
 * whole text even where it was cut, and proves nothing.
 */
export function arrival(transcript: string, { id, text }: { id: string; text: string }): Arrival {
  const lines = transcript.split('\n');
  let cut = false;
  // From the end: records before the last compaction are no longer in the context.
  for (let index = lines.length - 1; index >= 0; index -= 1) {
    const line = lines[index] ?? '';
    if (line.includes('"compact_boundary"') && isBoundary(parseRecord(line))) break;
    if (!line.includes('"hook_additional_context"')) continue;
    const found = contents(parseRecord(line));
    if (found.some((content) => content.includes(text.trim()))) return 'whole';
    cut ||= found.some((content) => content.includes(id));
  }
  return cut ? 'cut' : 'missing';
}

const isBoundary = (line: Payload | undefined): boolean => line?.subtype === 'compact_boundary';

function contents(line: Payload | undefined): string[] {
  const attachment = line?.type === 'attachment' ? partIn(line, 'attachment') : undefined;
  if (attachment?.type !== 'hook_additional_context') return [];
  const { content } = attachment;
  return (Array.isArray(content) ? content : [content]).filter((each) => typeof each === 'string');
}
