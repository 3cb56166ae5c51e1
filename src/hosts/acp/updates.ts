/** What an update of a session means. Updates may change with every version, so every part is checked where it is read. */
import type { HostEvent } from '../../runtime/index.ts';
import { numberIn, type Payload, partIn, textIn } from '../payload.ts';

export interface UpdateReader {
  read(update: Payload): HostEvent[];
  /** A call that was allowed: some agents announce it only by their question. */
  begin(call: Payload): HostEvent[];
  /** What the agent has said since the last call, as one event. */
  flush(): HostEvent[];
  /** The turn has ended: nothing is open any more. */
  close(): HostEvent[];
  /** What the agent said last. */
  lastMessage(): string;
  /** Of the session, in US dollars; undefined where the agent does not report it. */
  cost(): number | undefined;
  /** Forgets what was said. */
  reset(): void;
}

export function createUpdateReader(toolName: (call: Payload) => string): UpdateReader {
  const open = new Map<string, string>();
  const compactions = new Set<string>();
  let said = '';
  let shown = 0;
  let cost: number | undefined;

  const flush = (): HostEvent[] => {
    const text = said.slice(shown).trim();
    shown = said.length;
    return text === '' ? [] : [{ type: 'text', text }];
  };

  const begin = (call: Payload): HostEvent[] => {
    const id = textIn(call, 'toolCallId');
    if (id === undefined || open.has(id)) return [];
    const name = toolName(call);
    open.set(id, name);
    const before = flush();
    said = '';
    shown = 0;
    const detail = detailOf(call);
    return [...before, { type: 'tool', id, name, open: true, ...(detail === undefined ? {} : { detail }) }];
  };

  const finish = (call: Payload): HostEvent[] => {
    const id = textIn(call, 'toolCallId') ?? '';
    const name = open.get(id);
    if (name === undefined || !['completed', 'failed'].includes(textIn(call, 'status') ?? '')) return [];
    open.delete(id);
    return [{ type: 'tool', id, name, open: false }];
  };

  const compaction = (update: Payload): HostEvent[] => {
    const id = textIn(update, 'compactionId') ?? '';
    if (update.status !== 'completed' || compactions.has(id)) return [];
    compactions.add(id);
    return [{ type: 'compacted', trigger: 'auto' }];
  };

  const read = (update: Payload): HostEvent[] => {
    switch (update.sessionUpdate) {
      case 'agent_message_chunk':
        said += textIn(partIn(update, 'content'), 'text') ?? '';
        return [];
      case 'tool_call':
      case 'tool_call_update':
        return [...begin(update), ...finish(update)];
      case 'compaction_update':
        return compaction(update);
      case 'usage_update': {
        const { amount, currency } = partIn(update, 'cost') ?? {};
        if (currency === 'USD' && typeof amount === 'number') cost = amount;
        return [];
      }
      default:
        return [];
    }
  };

  return {
    read,
    begin,
    flush,
    close: () => [
      ...flush(),
      ...[...open].map(([id, name]): HostEvent => {
        open.delete(id);
        return { type: 'tool', id, name, open: false };
      }),
    ],
    lastMessage: () => said.trim(),
    cost: () => cost,
    reset: () => {
      said = '';
      shown = 0;
    },
  };
}

const maxDetail = 120;

function detailOf(call: Payload): string | undefined {
  const line = textIn(call, 'title')?.trim().split('\n')[0]?.trim();
  if (line === undefined || line === '') return undefined;
  return line.length > maxDetail ? `${line.slice(0, maxDetail - 1)}…` : line;
}

/** The tokens in an object with these keys, without what was read from a cache. */
export const tokensIn = (usage: Payload | undefined, ...keys: readonly string[]): number =>
  keys.reduce((sum, key) => sum + (numberIn(usage, key) ?? 0), 0);
