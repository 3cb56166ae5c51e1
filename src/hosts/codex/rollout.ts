import type { Arrival, Compaction } from '../../runtime/index.ts';
import { isPayload, type Payload, partIn, textIn } from '../payload.ts';
import { parseRecord } from '../transcript-record.ts';

/** Text from hooks is a message of the developer. A compaction replaces what stands before it. */
export function arrival(transcript: string, { id, text }: { id: string; text: string }): Arrival {
  const lines = transcript.split('\n');
  let cut = false;
  for (let index = lines.length - 1; index >= 0; index -= 1) {
    const record = parseRecord(lines[index] ?? '');
    if (record?.type === 'compacted') break;
    const message = record?.type === 'response_item' ? partIn(record, 'payload') : undefined;
    if (message?.role !== 'developer') continue;
    const found = textsIn(message);
    if (found.some((content) => content.includes(text.trim()))) return 'whole';
    cut ||= found.some((content) => content.includes(id));
  }
  return cut ? 'cut' : 'missing';
}

const textsIn = ({ content }: Payload): string[] =>
  (Array.isArray(content) ? content : []).flatMap((part) =>
    isPayload(part) ? (textIn(part, 'text') ?? []) : [],
  );

export function lastCompaction(transcript: string): Compaction | undefined {
  const records = transcript.split('\n').map(parseRecord);
  const compacted = records.findLast((record) => record?.type === 'compacted');
  const summary = textIn(partIn(compacted, 'payload'), 'message');
  // It does not say what triggered it.
  return summary === undefined ? undefined : { trigger: 'auto', summary };
}

/** What happened in a turn, in order. undefined: the turn did not begin in this text. */
function itemsOf(transcript: string, turn: string): Payload[] | undefined {
  const events = transcript
    .split('\n')
    .map(parseRecord)
    .map((record) => (record?.type === 'event_msg' ? partIn(record, 'payload') : undefined))
    .filter((event) => event?.turn_id === turn);
  if (!events.some((event) => event?.type === 'task_started')) return undefined;
  return events
    .map((event) => (event?.type === 'item_completed' ? partIn(event, 'item') : undefined))
    .filter((item) => item !== undefined);
}

const words = ['UserMessage', 'AgentMessage', 'HookPrompt', 'Reasoning', 'Plan', 'WebSearch', 'ImageView'];

/** Without its last message the turn is not complete. */
export function acted(
  transcript: string,
  turn: string,
  lastMessage: string | undefined,
): boolean | undefined {
  const items = itemsOf(transcript, turn);
  if (!items) return undefined;
  if (items.some(acts)) return true;
  const said = items.filter(({ type }) => type === 'AgentMessage').map((item) => textsIn(item).join(''));
  const complete = lastMessage === undefined || said.some((text) => text.trim() === lastMessage.trim());
  return complete ? false : undefined;
}

function acts(item: Payload): boolean {
  const { type, parsed_cmd: parts } = item;
  if (type === 'McpToolCall') return textIn(item, 'server') !== 'stepfast';
  if (type !== 'CommandExecution') return !words.includes(String(type));
  // The host has taken the command apart.
  const reads = ['read', 'list_files', 'search'];
  return (
    !Array.isArray(parts) || !parts.every((part) => isPayload(part) && reads.includes(String(part.type)))
  );
}

/** Each stop that was held has left its reason. */
export const stopsIn = (transcript: string, turn: string): number | undefined =>
  itemsOf(transcript, turn)?.filter(({ type }) => type === 'HookPrompt').length;
