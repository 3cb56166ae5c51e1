import { createReadStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Spending } from '../../runtime/index.ts';
import { numberIn, type Payload, partIn, textIn } from '../payload.ts';
import { parseRecord } from '../transcript-record.ts';

const idleMs = 5 * 60_000;

/** What a session has spent since a time, with its subagents. What was read from a cache does not count. */
export async function spending(transcript: string, since: number): Promise<Spending> {
  const turns = new Set<string>();
  let session: string | undefined;
  let last = since;
  let [tokens, activeMs] = [0, 0];
  for await (const record of recordsOf(transcript)) {
    const payload = partIn(record, 'payload');
    if (record.type === 'session_meta') session ??= textIn(payload, 'session_id');
    const time = Date.parse(textIn(record, 'timestamp') ?? '');
    if (!(time >= since)) continue;
    if (time > last) {
      if (time - last <= idleMs) activeMs += time - last;
      last = time;
    }
    const spent = tokensIn(record);
    if (spent === undefined) continue;
    tokens += spent;
    turns.add(textIn(payload, 'turn_id') ?? '');
  }
  for (const file of session === undefined ? [] : await subagentFiles(transcript, session))
    for await (const record of recordsOf(file))
      if (Date.parse(textIn(record, 'timestamp') ?? '') >= since) tokens += tokensIn(record) ?? 0;
  return { turns: turns.size, tokens, activeMs };
}

/** One record for each answer of the model. */
function tokensIn(record: Payload): number | undefined {
  const usage = record.type === 'token_usage_record' ? partIn(partIn(record, 'payload'), 'usage') : undefined;
  if (!usage) return undefined;
  const of = (key: string): number => numberIn(usage, key) ?? 0;
  return of('input_tokens') - of('cached_input_tokens') + of('output_tokens');
}

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

/** Subagents have files of their own beside the session's, which name it. */
async function subagentFiles(transcript: string, session: string): Promise<string[]> {
  const folder = dirname(transcript);
  const names = await readdir(folder).catch(() => []);
  const files = names.filter((name) => name.endsWith('.jsonl')).map((name) => join(folder, name));
  const isOf = await Promise.all(files.map(async (file) => (await sessionOf(file)) === session));
  return files.filter((file, index) => isOf[index] && file !== transcript);
}

async function sessionOf(file: string): Promise<string | undefined> {
  for await (const record of recordsOf(file)) return textIn(partIn(record, 'payload'), 'session_id');
  return undefined;
}
