/** OpenCode keeps conversations in a database. The plugin writes what Stepfast has to prove to a file of its own. */
import type { Arrival, Compaction } from '../../runtime/index.ts';
import { type Payload, textIn } from '../payload.ts';
import { parseRecord } from '../transcript-record.ts';
import { kindOfTool } from './tool-use.ts';

/** A line of that file. Times are in milliseconds since the epoch. */
export type TranscriptRecord = { at: number } & (
  | { type: 'session'; id: string }
  /** A prompt; one of the plugin's own continues the turn before it. */
  | { type: 'turn'; id: string; continues?: string }
  /** What follows the end of a turn. */
  | { type: 'idle'; turn: string; then: 'nothing' | 'continued' | 'reset' }
  | { type: 'tool'; turn: string; name: string }
  /** Injected text, found in the messages of a request. */
  | { type: 'sent'; text: string }
  | { type: 'compacted'; trigger: 'manual' | 'auto'; summary: string }
  /** Of one message of the assistant; may be repeated with more. */
  | { type: 'usage'; turn: string; message: string; tokens: number; cost: number }
);

export const recordsIn = (transcript: string): Payload[] =>
  transcript
    .split('\n')
    .map(parseRecord)
    .filter((record) => record !== undefined);

/** A compaction replaces what stands before it. */
export function arrival(transcript: string, { text }: { text: string }): Arrival {
  for (const record of recordsIn(transcript).reverse()) {
    if (record.type === 'compacted') break;
    if (record.type === 'sent' && textIn(record, 'text')?.includes(text.trim())) return 'whole';
  }
  return 'missing';
}

export function lastCompaction(transcript: string): Compaction | undefined {
  const last = recordsIn(transcript).findLast(({ type }) => type === 'compacted');
  const summary = textIn(last, 'summary');
  return summary === undefined
    ? undefined
    : { trigger: last?.trigger === 'auto' ? 'auto' : 'manual', summary };
}

const reads = [
  'glob',
  'grep',
  'list',
  'list_mcp_resource_templates',
  'list_mcp_resources',
  'lsp',
  'question',
  'read',
  'read_mcp_resource',
  'skill',
  'todoread',
  'todowrite',
  'webfetch',
  'websearch',
];

/** Also what the turn did before it was continued. */
export function acted(transcript: string, turn: string): boolean | undefined {
  const records = recordsIn(transcript);
  const turns = new Map(
    records.flatMap((record) =>
      record.type === 'turn' ? [[textIn(record, 'id') ?? '', textIn(record, 'continues')] as const] : [],
    ),
  );
  if (!turns.has(turn)) return undefined;
  const chain = new Set<string>();
  for (let id: string | undefined = turn; id !== undefined && !chain.has(id); id = turns.get(id))
    chain.add(id);
  return records.some(
    (record) => record.type === 'tool' && chain.has(textIn(record, 'turn') ?? '') && acts(record),
  );
}

function acts(record: Payload): boolean {
  const name = textIn(record, 'name') ?? '';
  return !reads.includes(name) && kindOfTool(name) !== 'stepfast';
}
