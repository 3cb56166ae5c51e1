/** What a line of `--output-format json` means. Lines may change with every version: every part is checked. */
import type { HostEvent, TurnFailure } from '../../../runtime/index.ts';
import { numberIn, type Payload, partIn, textIn } from '../../payload.ts';
import { parseRecord } from '../../transcript-record.ts';

/** One turn, as its lines tell it. */
export interface TurnReader {
  read(line: string): HostEvent[];
  /** The calls that an interrupt has left open. */
  close(): HostEvent[];
  readonly lastMessage: string;
  readonly denials: string[];
  readonly failure: TurnFailure | undefined;
  /** It was cancelled; the host may report an end all the same. */
  readonly aborted: boolean;
  /** The host has said how the turn ended. */
  readonly ended: boolean;
}

export function createTurnReader(): TurnReader {
  const open = new Map<string, string>();
  const denials: string[] = [];
  let lastMessage = '';
  let failure: TurnFailure | undefined;
  let status: number | undefined;
  let [aborted, ended, tooLong] = [false, false, false];

  const events = (record: Payload): HostEvent[] => {
    const data = partIn(record, 'data');
    const id = textIn(data, 'toolCallId');
    switch (record.type) {
      case 'assistant.message': {
        const text = textIn(data, 'content');
        if (text === undefined || textIn(record, 'agentId') !== undefined) return [];
        lastMessage = text;
        return [{ type: 'text', text }];
      }
      case 'tool.execution_start': {
        const name = textIn(data, 'toolName');
        if (id === undefined || name === undefined || open.has(id)) return [];
        open.set(id, name);
        const detail = detailOf(partIn(data, 'arguments'));
        return [{ type: 'tool', id, name, open: true, ...(detail === undefined ? {} : { detail }) }];
      }
      case 'tool.execution_complete': {
        const name = id === undefined ? undefined : open.get(id);
        if (id === undefined || name === undefined) return [];
        open.delete(id);
        const closed: HostEvent = { type: 'tool', id, name, open: false };
        if (!wasDenied(partIn(data, 'error'))) return [closed];
        denials.push(name);
        return [closed, { type: 'denied', tool: name }];
      }
      case 'model.call_failure':
        status = numberIn(data, 'statusCode');
        return [];
      case 'assistant.turn_retry':
        tooLong ||= textIn(data, 'reason') === 'forced_compaction';
        return [{ type: 'retry', ...(status === undefined ? {} : { status }) }];
      case 'session.error':
        failure = failureOf(data, tooLong);
        return [];
      case 'abort':
        aborted = true;
        return [];
      case 'result':
        ended = true;
        return [];
      default:
        return [];
    }
  };

  return {
    read(line) {
      const record = parseRecord(line);
      return [{ type: 'activity' }, ...(record ? events(record) : [])];
    },
    close: () =>
      [...open].map(([id, name]): HostEvent => {
        open.delete(id);
        return { type: 'tool', id, name, open: false };
      }),
    denials,
    get lastMessage() {
      return lastMessage;
    },
    get failure() {
      return failure;
    },
    get aborted() {
      return aborted;
    },
    get ended() {
      return ended;
    },
  };
}

/** By the rules of the host; what a hook denies is not a question to a person. */
const wasDenied = (error: Payload | undefined): boolean =>
  error?.code === 'denied' && !/^Denied by preToolUse hook/.test(textIn(error, 'message') ?? '');

function failureOf(data: Payload | undefined, tooLong: boolean): TurnFailure {
  const text = textIn(data, 'message') ?? 'The model service failed.';
  const status = numberIn(data, 'statusCode');
  if (tooLong || data?.errorType === 'context_limit') return { kind: 'limit', text };
  return { kind: 'model_service', text, ...(status === undefined ? {} : { status }) };
}

const detailKeys = ['command', 'path', 'pattern', 'url', 'query', 'skill', 'description'];
const maxDetail = 120;

function detailOf(input: Payload | undefined): string | undefined {
  const value = detailKeys.map((key) => textIn(input, key)).find((text) => text !== undefined);
  const line = value?.trim().split('\n')[0]?.trim();
  if (line === undefined || line === '') return undefined;
  return line.length > maxDetail ? `${line.slice(0, maxDetail - 1)}…` : line;
}
