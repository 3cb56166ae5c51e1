import type { Arrival } from '../../runtime/index.ts';
import { isPayload, type Payload, partIn } from '../payload.ts';
import { parseRecord } from '../transcript-record.ts';

/** Injected text is part of a prompt or of a tool's result, with `<` and `>` escaped. A list of messages replaces all before it. */
export function arrival(transcript: string, { id, text }: { id: string; text: string }): Arrival {
  const escaped = text.trim().replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  let cut = false;
  for (const line of transcript.split('\n').toReversed()) {
    const record = parseRecord(line);
    const replaced = partIn(record, '$set')?.messages;
    const texts = record ? textsIn(Array.isArray(replaced) ? replaced : [record]) : [];
    if (texts.some((each) => each.includes(escaped))) return 'whole';
    cut ||= texts.some((each) => each.includes(id) && each.includes('<hook_context>'));
    if (Array.isArray(replaced)) break;
  }
  return cut ? 'cut' : 'missing';
}

const textsIn = (messages: readonly unknown[]): string[] =>
  messages
    .filter(isPayload)
    .flatMap(({ content }) => (Array.isArray(content) ? content.flatMap(textOf) : []));

function textOf(part: unknown): string[] {
  if (!isPayload(part)) return [];
  if (typeof part.text === 'string') return [part.text];
  const output = (partIn(part, 'functionResponse')?.response as Payload | undefined)?.output;
  return typeof output === 'string' ? [output] : [];
}
