import { isPayload, partIn, textIn } from '../payload.ts';
import { parseRecord } from '../transcript-record.ts';

/** The id of the assistant message with this tool call: calls with the same one run in parallel. */
export function callGroup(transcript: string, callId: string): string | undefined {
  const lines = transcript.split('\n');
  for (let index = lines.length - 1; index >= 0; index -= 1) {
    const line = lines[index] ?? '';
    if (!line.includes(callId)) continue;
    const record = parseRecord(line);
    const message = record?.type === 'assistant' ? partIn(record, 'message') : undefined;
    const content = Array.isArray(message?.content) ? message.content : [];
    if (content.some((block) => isPayload(block) && block.type === 'tool_use' && block.id === callId))
      return textIn(message, 'id');
  }
  return undefined;
}
