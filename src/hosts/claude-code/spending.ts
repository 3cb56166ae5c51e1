import { createReadStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Spending } from '../../runtime/index.ts';
import { numberIn, type Payload, partIn, textIn } from '../payload.ts';
import { parseRecord } from '../transcript-record.ts';

const idleMs = 5 * 60_000;

/**
 * What a session has spent since a time, with its subagents: read as a whole each time, so that it does not matter which
 * process asks. Tokens are input, cache writes and output; what was read from the cache does not count.
 */
export async function spending(transcript: string, since: number): Promise<Spending> {
  const tokens = new Map<string, number>();
  const turns = new Set<string>();
  let turn = '';
  let last = since;
  let activeMs = 0;
  for await (const record of recordsOf(transcript)) {
    turn = (record.type === 'user' ? textIn(record, 'promptId') : undefined) ?? turn;
    const time = Date.parse(textIn(record, 'timestamp') ?? '');
    if (!(time >= since)) continue;
    if (time > last) {
      if (time - last <= idleMs) activeMs += time - last;
      last = time;
    }
    if (record.type !== 'assistant' || isSynthetic(record)) continue;
    turns.add(turn);
    count(record, tokens);
  }
  for (const file of await subagentFiles(transcript))
    for await (const record of recordsOf(file))
      if (record.type === 'assistant' && Date.parse(textIn(record, 'timestamp') ?? '') >= since)
        count(record, tokens);
  const sum = [...tokens.values()].reduce((all, each) => all + each, 0);
  return { turns: turns.size, tokens: sum, activeMs };
}

/** A message has a record for each of its blocks, all with the same usage. */
function count(record: Payload, tokens: Map<string, number>): void {
  const message = partIn(record, 'message');
  const usage = partIn(message, 'usage');
  const id = textIn(message, 'id');
  if (!usage || id === undefined || isSynthetic(record)) return;
  const of = (key: string): number => numberIn(usage, key) ?? 0;
  tokens.set(id, of('input_tokens') + of('cache_creation_input_tokens') + of('output_tokens'));
}

const isSynthetic = (record: Payload): boolean => partIn(record, 'message')?.model === '<synthetic>';

async function* recordsOf(file: string): AsyncGenerator<Payload> {
  try {
    for await (const line of createInterface({ input: createReadStream(file) })) {
      const record = parseRecord(line);
      if (record) yield record;
    }
  } catch {
    // It does not exist yet.
  }
}

async function subagentFiles(transcript: string): Promise<string[]> {
  const folder = join(transcript.replace(/\.jsonl$/, ''), 'subagents');
  try {
    return (await readdir(folder))
      .filter((name) => name.endsWith('.jsonl'))
      .map((name) => join(folder, name));
  } catch {
    return [];
  }
}
