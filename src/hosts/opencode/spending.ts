import { readFile } from 'node:fs/promises';
import type { Spending } from '../../runtime/index.ts';
import { numberIn, textIn } from '../payload.ts';
import { recordsIn } from './transcript.ts';

const idleMs = 5 * 60_000;

/** What a session has spent since a time, with its subagents. What was read from a cache does not count. */
export async function spending(transcript: string, since: number): Promise<Spending> {
  const text = await readFile(transcript, 'utf8').catch(() => '');
  const messages = new Map<string, { tokens: number; cost: number }>();
  const turns = new Set<string>();
  const continued = new Map<string, string>();
  let last = since;
  let activeMs = 0;
  for (const record of recordsIn(text)) {
    const at = numberIn(record, 'at') ?? 0;
    const [id, before] = [textIn(record, 'id'), textIn(record, 'continues')];
    if (record.type === 'turn' && id !== undefined && before !== undefined)
      continued.set(id, continued.get(before) ?? before);
    if (at < since) continue;
    if (at > last) {
      if (at - last <= idleMs) activeMs += at - last;
      last = at;
    }
    if (record.type !== 'usage') continue;
    const [tokens = 0, cost = 0] = [numberIn(record, 'tokens'), numberIn(record, 'cost')];
    messages.set(textIn(record, 'message') ?? '', { tokens, cost });
    const turn = textIn(record, 'turn') ?? '';
    turns.add(continued.get(turn) ?? turn);
  }
  const spent = [...messages.values()];
  return {
    turns: turns.size,
    tokens: spent.reduce((sum, { tokens }) => sum + tokens, 0),
    cost: spent.reduce((sum, { cost }) => sum + cost, 0),
    activeMs,
  };
}
