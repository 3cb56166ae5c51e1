import { isPayload, type Payload, partIn, textIn } from '../payload.ts';
import { onlyReads } from '../shell-reads.ts';
import { parseRecord } from '../transcript-record.ts';
import { stepfastTool } from './tool-use.ts';

/** Tools that change nothing outside the conversation. */
const reads = new Set([
  ...['Read', 'Grep', 'Glob', 'LS', 'WebFetch', 'WebSearch', 'ToolSearch', 'AskUserQuestion', 'Skill'],
  ...['TodoWrite', 'TaskCreate', 'TaskUpdate', 'TaskGet', 'TaskList', 'TaskOutput', 'BashOutput'],
  ...['EnterPlanMode', 'ExitPlanMode', 'ListMcpResourcesTool', 'ReadMcpResourceTool'],
]);

/** Records are written late: without the last message the turn is not complete. */
export function acted(
  transcript: string,
  turn: string,
  lastMessage: string | undefined,
): boolean | undefined {
  const records = transcript.split('\n').map(parseRecord);
  const first = records.findIndex((record) => record?.type === 'user' && record.promptId === turn);
  if (first < 0) return undefined;
  const replies = records.slice(first).filter((record) => record?.type === 'assistant');
  if (replies.some((record) => blocksIn(record, 'tool_use').some(acts))) return true;
  const texts = replies.flatMap((record) => blocksIn(record, 'text').map((block) => textIn(block, 'text')));
  const complete = lastMessage === undefined || texts.some((text) => text?.trim() === lastMessage.trim());
  return complete ? false : undefined;
}

/** The host writes a record when the hooks of a stop have ended. */
export function stopsIn(transcript: string, turn: string): number | undefined {
  const records = transcript.split('\n').map(parseRecord);
  const first = records.findIndex((record) => record?.type === 'user' && record.promptId === turn);
  if (first < 0) return undefined;
  return records.slice(first).filter((record) => record?.subtype === 'stop_hook_summary').length;
}

function blocksIn(record: Payload | undefined, type: 'text' | 'tool_use'): Payload[] {
  const content = partIn(record, 'message')?.content;
  return (Array.isArray(content) ? content : []).filter(
    (block): block is Payload => isPayload(block) && block.type === type,
  );
}

function acts(call: Payload): boolean {
  const name = textIn(call, 'name') ?? '';
  if (name === 'Bash') return !onlyReads(textIn(partIn(call, 'input'), 'command') ?? '');
  return !reads.has(name) && !stepfastTool.test(name);
}
