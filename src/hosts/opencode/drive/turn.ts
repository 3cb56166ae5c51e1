/** What the events of a server say of one session. Every part is checked where it is read. */
import type { HostEvent, TurnEnd, TurnFailure } from '../../../runtime/index.ts';
import { numberIn, type Payload, partIn, textIn } from '../../payload.ts';

export interface TurnReader {
  read(event: Payload): HostEvent[];
  /** A turn begins. */
  begin(): void;
  spent(): TurnEnd['spent'];
  lastMessage(): string;
  failure(): TurnFailure | undefined;
  wasAborted(): boolean;
  model(): { providerID: string; modelID: string } | undefined;
}

const detailKeys = ['command', 'filePath', 'pattern', 'url', 'query', 'description'];
const maxDetail = 120;

export function createTurnReader(session: string): TurnReader {
  const usage = new Map<string, { tokens: number; cost: number }>();
  const texts = new Map<string, string>();
  const open = new Map<string, string>();
  /** A call that was aborted may be reported as running once more. */
  const closed = new Set<string>();
  /** Messages of earlier turns, which are reported again. */
  let earlier = new Set<string>();
  let assistant: string | undefined;
  let failure: TurnFailure | undefined;
  let aborted = false;
  let auto = false;
  let model: { providerID: string; modelID: string } | undefined;

  /** Also of subagents, whose sessions are others. */
  const readMessage = (info: Payload | undefined): void => {
    const id = textIn(info, 'id');
    if (id === undefined || info?.role !== 'assistant') return;
    const tokens = partIn(info, 'tokens');
    const of = (part: Payload | undefined, key: string): number => numberIn(part, key) ?? 0;
    const spent =
      of(tokens, 'input') +
      of(tokens, 'output') +
      of(tokens, 'reasoning') +
      of(partIn(tokens, 'cache'), 'write');
    usage.set(id, { tokens: spent, cost: numberIn(info, 'cost') ?? 0 });
    if (info.sessionID !== session || info.summary === true || earlier.has(id)) return;
    if (assistant !== id) texts.clear();
    assistant = id;
    const [providerID, modelID] = [textIn(info, 'providerID'), textIn(info, 'modelID')];
    if (providerID !== undefined && modelID !== undefined) model = { providerID, modelID };
    readError(partIn(info, 'error'));
  };

  const readError = (error: Payload | undefined): void => {
    if (!error) return;
    if (error.name === 'MessageAbortedError') aborted = true;
    else failure = failureIn(error);
  };

  const readPart = (part: Payload | undefined): HostEvent[] => {
    const [id, text] = [textIn(part, 'id'), textIn(part, 'text')];
    const isOwn = part?.sessionID === session && part.messageID === assistant;
    if (part?.type === 'compaction') auto = part.auto === true;
    if (part?.type === 'tool') return readTool(part);
    if (part?.type !== 'text' || id === undefined || text === undefined || !isOwn) return [];
    texts.set(id, text);
    return numberIn(partIn(part, 'time'), 'end') === undefined ? [] : [{ type: 'text', text }];
  };

  const readTool = (part: Payload): HostEvent[] => {
    const [id, name, state] = [textIn(part, 'callID'), textIn(part, 'tool'), partIn(part, 'state')];
    if (id === undefined || name === undefined) return [];
    if (state?.status === 'running' && !open.has(id) && !closed.has(id)) {
      open.set(id, name);
      const detail = detailOf(partIn(state, 'input'));
      return [{ type: 'tool', id, name, open: true, ...(detail === undefined ? {} : { detail }) }];
    }
    const isOver = state?.status === 'completed' || state?.status === 'error';
    if (isOver) closed.add(id);
    return isOver && open.delete(id) ? [{ type: 'tool', id, name, open: false }] : [];
  };

  const closeTools = (): HostEvent[] =>
    [...open].map(([id, name]) => {
      open.delete(id);
      closed.add(id);
      return { type: 'tool', id, name, open: false };
    });

  const read = (event: Payload): HostEvent[] => {
    const properties = partIn(event, 'properties');
    if (event.type === 'message.updated') readMessage(partIn(properties, 'info'));
    if (event.type === 'message.part.updated') return readPart(partIn(properties, 'part'));
    if (properties?.sessionID !== session) return [];
    if (event.type === 'session.error') readError(partIn(properties, 'error'));
    if (event.type === 'session.idle') return closeTools();
    if (event.type === 'session.compacted') return [{ type: 'compacted', trigger: auto ? 'auto' : 'manual' }];
    const status = partIn(properties, 'status');
    if (event.type !== 'session.status' || status?.type !== 'retry') return [];
    const next = numberIn(status, 'next');
    return [{ type: 'retry', ...(next === undefined ? {} : { waitMs: Math.max(0, next - Date.now()) }) }];
  };

  return {
    // The server also sends heartbeats.
    read: (event) => (String(event.type).startsWith('server.') ? [] : [{ type: 'activity' }, ...read(event)]),
    begin() {
      earlier = new Set(usage.keys());
      failure = undefined;
      aborted = false;
      texts.clear();
    },
    spent: () => ({
      tokens: [...usage.values()].reduce((sum, each) => sum + each.tokens, 0),
      cost: [...usage.values()].reduce((sum, each) => sum + each.cost, 0),
    }),
    lastMessage: () => [...texts.values()].join('\n'),
    failure: () => failure,
    wasAborted: () => aborted,
    model: () => model,
  };
}

function failureIn(error: Payload): TurnFailure {
  const data = partIn(error, 'data');
  const text = textIn(data, 'message') ?? textIn(error, 'name') ?? 'unknown';
  const status = numberIn(data, 'statusCode');
  const isLimit = /ContextOverflow|OutputLength/.test(textIn(error, 'name') ?? '') || status === 413;
  if (isLimit) return { kind: 'limit', text };
  return { kind: 'model_service', text, ...(status === undefined ? {} : { status }) };
}

function detailOf(input: Payload | undefined): string | undefined {
  const value = detailKeys.map((key) => textIn(input, key)).find((text) => text !== undefined);
  const line = value?.trim().split('\n')[0]?.trim();
  if (line === undefined || line === '') return undefined;
  return line.length > maxDetail ? `${line.slice(0, maxDetail - 1)}…` : line;
}
