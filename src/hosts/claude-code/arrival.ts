import type { Arrival } from '../../runtime/index.ts';
import { isPayload, type Payload, partIn } from './payload.ts';

/**
 * The host keeps what it accepted from a hook as an attachment of the conversation. What a hook printed is kept
 * elsewhere, whole even where it was cut, and proves nothing.
 */
export function arrival(transcript: string, { id, text }: { id: string; text: string }): Arrival {
  const lines = transcript.split('\n');
  let cut = false;
  // From the end: what stands before the last compaction is no longer in the context.
  for (let index = lines.length - 1; index >= 0; index -= 1) {
    const line = lines[index] ?? '';
    if (line.includes('"compact_boundary"') && isBoundary(record(line))) break;
    if (!line.includes('"hook_additional_context"')) continue;
    const found = contents(record(line));
    if (found.some((content) => content.includes(text.trim()))) return 'whole';
    cut ||= found.some((content) => content.includes(id));
  }
  return cut ? 'cut' : 'missing';
}

/** The first line of a file that is read from its middle is none. */
function record(line: string): Payload | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isPayload(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const isBoundary = (line: Payload | undefined): boolean => line?.subtype === 'compact_boundary';

function contents(line: Payload | undefined): string[] {
  const attachment = line?.type === 'attachment' ? partIn(line, 'attachment') : undefined;
  if (attachment?.type !== 'hook_additional_context') return [];
  const { content } = attachment;
  return (Array.isArray(content) ? content : [content]).filter((each) => typeof each === 'string');
}
