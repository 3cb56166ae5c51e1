/** The log of a conversation. Records may change with every version: every part is checked where it is read. */
import type { Arrival, Spending } from '../../runtime/index.ts';
import { numberIn, type Payload, partIn, textIn } from '../payload.ts';
import { onlyReads } from '../shell-reads.ts';
import { parseRecord, recordsOf } from '../transcript-record.ts';
import { stepfastTool } from './tool-use.ts';

const recordsIn = (transcript: string): Payload[] =>
  transcript
    .split('\n')
    .map(parseRecord)
    .filter((record) => record !== undefined);

/** What was injected before the last compaction is no longer in the context. */
export function arrival(transcript: string, { id, text }: { id: string; text: string }): Arrival {
  const records = recordsIn(transcript);
  const texts = records
    .slice(records.findLastIndex(({ type }) => type === 'compacted') + 1)
    .filter(({ type }) => type === 'injected')
    .map((record) => textIn(record, 'text') ?? '');
  if (texts.some((each) => each.includes(text.trim()))) return 'whole';
  return texts.some((each) => each.includes(id)) ? 'cut' : 'missing';
}

/** `turn` is the id of the stop. undefined until the beginning of its turn is in the log. */
export function acted(transcript: string, turn: string): boolean | undefined {
  const records = recordsIn(transcript).filter((record) => record.turn === turn);
  if (!records.some(({ type }) => type === 'prompt')) return undefined;
  return records.some((record) => record.type === 'tool' && acts(record));
}

function acts(record: Payload): boolean {
  const name = textIn(record, 'tool') ?? '';
  if (name === 'shell') return !onlyReads(textIn(partIn(record, 'input'), 'command') ?? '');
  return name !== 'read_file' && !stepfastTool.test(name);
}

/** A longer pause is a person's. */
const idleMs = 5 * 60_000;

/** Tokens that were read from a cache do not count. */
export async function spending(transcript: string, since: number): Promise<Spending> {
  let last = since;
  let [turns, tokens, activeMs] = [0, 0, 0];
  for await (const record of recordsOf(transcript)) {
    const time = Date.parse(textIn(record, 'time') ?? '');
    if (!(time >= since)) continue;
    if (time - last <= idleMs) activeMs += Math.max(0, time - last);
    last = Math.max(last, time);
    if (record.type === 'prompt') turns += 1;
    tokens += (numberIn(record, 'tokens_in') ?? 0) + (numberIn(record, 'tokens_out') ?? 0);
  }
  return { turns, tokens, activeMs };
}
