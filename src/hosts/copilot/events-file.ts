/** What `events.jsonl` of a session shows. Records may change with every version: every part is checked where it is read. */
import type { Arrival, Compaction } from '../../runtime/index.ts';
import { isPayload, type Payload, partIn, textIn } from '../payload.ts';
import { onlyReads } from '../shell-reads.ts';
import { parseRecord } from '../transcript-record.ts';
import { stepfastTool } from './tool-use.ts';

const recordsIn = (transcript: string): Payload[] =>
  transcript
    .split('\n')
    .map(parseRecord)
    .filter((record) => record !== undefined);

const isHook = (record: Payload, type: 'hook.start' | 'hook.end', hook: string): boolean =>
  record.type === type && partIn(record, 'data')?.hookType === hook;

const startsProcess = ({ type }: Payload): boolean => type === 'session.start' || type === 'session.resume';

/** Of the session itself, not of a subagent. */
const isPrompt = (record: Payload): boolean =>
  record.type === 'user.message' && textIn(record, 'agentId') === undefined;

/** A compaction that has replaced the context. */
export const applied = (record: Payload): boolean =>
  record.type === 'session.compaction_complete' && partIn(record, 'data')?.success === true;

/**
 * Text of hooks is in the prompt or in the result of the tool. That of a session start is only in the record of the
 * hook: it counts when the prompt after it was sent. A compaction replaces what stands before it.
 */
export function arrival(transcript: string, { id, text }: { id: string; text: string }): Arrival {
  const all = recordsIn(transcript);
  if (all.findLastIndex(isPrompt) <= all.findLastIndex(startsProcess)) return 'unknown';
  const records = all.slice(all.findLastIndex(applied) + 1);
  const sent = Math.max(0, records.findLastIndex(isPrompt));
  let cut = false;
  for (const record of records.slice(0, sent).filter((each) => isHook(each, 'hook.end', 'sessionStart')))
    if (injectedBy(record).includes(text.trim())) return 'whole';
  for (const record of records) {
    const content = injectedInto(record);
    if (content.includes(text.trim())) return 'whole';
    cut ||= content.includes(id);
  }
  return cut ? 'cut' : 'missing';
}

const injectedBy = (record: Payload): string =>
  textIn(partIn(partIn(record, 'data'), 'output'), 'additionalContext') ?? '';

function injectedInto(record: Payload): string {
  const data = partIn(record, 'data');
  if (record.type === 'user.message') return textIn(data, 'transformedContent') ?? '';
  if (record.type === 'tool.execution_complete') return textIn(partIn(data, 'result'), 'content') ?? '';
  return '';
}

/** The hooks of the first prompt start while those of the session start run. */
export function isStarting(transcript: string): boolean {
  const records = recordsIn(transcript);
  const started = records.findLastIndex((record) => isHook(record, 'hook.start', 'sessionStart'));
  return started > records.findLastIndex((record) => isHook(record, 'hook.end', 'sessionStart'));
}

/** The file is written every half second or so. */
export const writtenUntil = (transcript: string): number =>
  Date.parse(textIn(recordsIn(transcript).at(-1) ?? {}, 'timestamp') ?? '') || 0;

/** An automatic compaction runs beside the turn: until its end, text that is injected may be lost with it. */
export function compactionState(
  transcript: string,
  since: number,
): 'running' | 'done' | 'failed' | undefined {
  const last = recordsIn(transcript).findLast(
    (record) =>
      String(record.type).startsWith('session.compaction_') &&
      Date.parse(textIn(record, 'timestamp') ?? '') >= since,
  );
  if (last === undefined) return undefined;
  if (last.type === 'session.compaction_start') return 'running';
  return applied(last) ? 'done' : 'failed';
}

export function lastCompaction(transcript: string): Compaction | undefined {
  const data = partIn(recordsIn(transcript).findLast(applied), 'data');
  const summary = textIn(data, 'summaryContent');
  if (summary === undefined) return undefined;
  return { trigger: data?.trigger === 'manual' ? 'manual' : 'auto', summary };
}

/** The reason of a held stop is a prompt of the host's own. */
export function startsTurn(record: Payload, heldWith: string | undefined): boolean {
  return isPrompt(record) && textIn(partIn(record, 'data'), 'content') !== heldWith;
}

/** Why the stop of this record was held. */
export const holdIn = (record: Payload): string | undefined =>
  isHook(record, 'hook.end', 'agentStop')
    ? textIn(partIn(partIn(record, 'data'), 'output'), 'reason')
    : undefined;

/** The records of the turn that a stop ends. undefined: the host has not written them yet, or not in this text. */
function turnOf(transcript: string, stop: string): Payload[] | undefined {
  const records = recordsIn(transcript);
  const end = records.findLastIndex(
    (record) =>
      isHook(record, 'hook.start', 'agentStop') &&
      stop.startsWith(`${partIn(partIn(record, 'data'), 'input')?.timestamp}-`),
  );
  if (end < 0) return undefined;
  let first = -1;
  let held: string | undefined;
  records.slice(0, end).forEach((record, index) => {
    held = holdIn(record) ?? held;
    if (startsTurn(record, held)) first = index;
  });
  const own = records.slice(first, end).filter((record) => textIn(record, 'agentId') === undefined);
  return first < 0 ? undefined : own;
}

/** Tools that change nothing outside the conversation. */
const reads = new Set([
  ...['view', 'glob', 'grep', 'read_bash', 'list_bash', 'web_fetch', 'web_search', 'ask_user', 'skill'],
  ...['read_agent', 'list_agents', 'report_intent', 'update_todo', 'sql', 'session_store_sql'],
  'fetch_copilot_cli_documentation',
]);

export const acted = (transcript: string, stop: string): boolean | undefined =>
  turnOf(transcript, stop)?.some((record) => record.type === 'tool.execution_start' && acts(record));

function acts(record: Payload): boolean {
  const data = partIn(record, 'data');
  const name = textIn(data, 'toolName') ?? '';
  if (name === 'bash') return !onlyReads(textIn(partIn(data, 'arguments'), 'command') ?? '');
  return !reads.has(name) && !stepfastTool.test(name);
}

/** The agent's last words in the turn that this stop ends. */
export function lastMessage(transcript: string, stop: string): string | undefined {
  const said = turnOf(transcript, stop)?.filter(({ type }) => type === 'assistant.message') ?? [];
  const last = partIn(said.at(-1), 'data');
  return isPayload(last) ? textIn(last, 'content') : undefined;
}
