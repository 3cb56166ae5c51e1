import type { Spending } from '../../runtime/index.ts';
import { numberIn, type Payload, partIn, textIn } from '../payload.ts';
import { recordsOf } from '../transcript-record.ts';
import { holdIn, startsTurn } from './events-file.ts';

const idleMs = 5 * 60_000;

/** What a session has spent since a time, with its subagents, which are in the same file, and its compactions. */
export async function spending(transcript: string, since: number): Promise<Spending> {
  let last = since;
  let held: string | undefined;
  let [turns, tokens, activeMs] = [0, 0, 0];
  for await (const record of recordsOf(transcript)) {
    held = holdIn(record) ?? held;
    const time = Date.parse(textIn(record, 'timestamp') ?? '');
    if (!(time >= since)) continue;
    if (time > last) {
      if (time - last <= idleMs) activeMs += time - last;
      last = time;
    }
    if (startsTurn(record, held)) turns += 1;
    tokens += tokensIn(record);
  }
  return { turns, tokens, activeMs };
}

/** What was read from a cache does not count. */
export function tokensIn(record: Payload): number {
  const data = partIn(record, 'data');
  const usage =
    record.type === 'session.usage_record'
      ? partIn(data, 'usage')
      : record.type === 'session.compaction_complete'
        ? partIn(data, 'compactionTokensUsed')
        : undefined;
  const of = (key: string): number => numberIn(usage, key) ?? 0;
  return of('inputTokens') - of('cacheReadTokens') + of('outputTokens');
}
