/** What a line of the stream means. Lines may change with every version, so every part is checked where it is read. */
import type { HostEvent } from '../../../runtime/index.ts';
import { isPayload, numberIn, type Payload, partIn, textIn } from '../../payload.ts';

/** undefined for what is no line of the stream: programs of the person may print there. */
export function parseLine(line: string): Payload | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isPayload(value) && textIn(value, 'type') !== undefined ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Of a result. */
export const wasInterrupted = (result: Payload): boolean =>
  textIn(result, 'terminal_reason')?.startsWith('aborted') === true;

export const listIn = (payload: Payload | undefined, key: string): Payload[] => {
  const value = payload?.[key];
  return Array.isArray(value) ? value.filter(isPayload) : [];
};

export interface EventReader {
  /** The events of a line, in order. */
  read(line: Payload): HostEvent[];
  /** When the usage limit that was reached ends, as the host last said. */
  resetAt(): number | undefined;
}

export function createEventReader(): EventReader {
  const open = new Map<string, { name: string; main: boolean }>();
  let resetAt: number | undefined;

  const message = (line: Payload): HostEvent[] => {
    const main = textIn(line, 'parent_tool_use_id') === undefined;
    const synthetic = partIn(line, 'message')?.model === '<synthetic>';
    return listIn(partIn(line, 'message'), 'content').flatMap((block): HostEvent[] => {
      const text = textIn(block, 'text');
      const id = textIn(block, 'id');
      const name = textIn(block, 'name');
      if (block.type === 'text' && text !== undefined && main && !synthetic) return [{ type: 'text', text }];
      if (block.type !== 'tool_use' || id === undefined || name === undefined || open.has(id)) return [];
      open.set(id, { name, main });
      const detail = detailOf(partIn(block, 'input'));
      return [{ type: 'tool', id, name, open: true, ...(detail === undefined ? {} : { detail }) }];
    });
  };

  const results = (line: Payload): HostEvent[] =>
    listIn(partIn(line, 'message'), 'content').flatMap((block): HostEvent[] => {
      const id = textIn(block, 'tool_use_id');
      const name = id === undefined ? undefined : open.get(id)?.name;
      if (block.type !== 'tool_result' || id === undefined || name === undefined) return [];
      open.delete(id);
      return [{ type: 'tool', id, name, open: false }];
    });

  /** An interrupt leaves calls without a result. Subagents in the background go on after a result. */
  const closeCalls = (which: (call: { main: boolean }) => boolean): HostEvent[] =>
    [...open].flatMap(([id, call]): HostEvent[] => {
      if (!which(call)) return [];
      open.delete(id);
      return [{ type: 'tool', id, name: call.name, open: false }];
    });

  const read = (line: Payload): HostEvent[] => {
    if (line.type === 'assistant') return message(line);
    if (line.type === 'user') return results(line);
    if (line.type === 'result') return closeCalls(({ main }) => main || wasInterrupted(line));
    if (line.type === 'rate_limit_event') {
      const info = partIn(line, 'rate_limit_info');
      resetAt = info?.status === 'rejected' ? inMs(numberIn(info, 'resetsAt')) : undefined;
    }
    if (line.type !== 'system') return [];
    if (line.subtype === 'api_retry') {
      const status = numberIn(line, 'error_status');
      const waitMs = numberIn(line, 'retry_delay_ms');
      return [
        {
          type: 'retry',
          ...(status === undefined ? {} : { status }),
          ...(waitMs === undefined ? {} : { waitMs }),
          ...(resetAt === undefined ? {} : { resetAt }),
        },
      ];
    }
    if (line.subtype === 'compact_boundary') {
      const trigger = partIn(line, 'compact_metadata')?.trigger === 'manual' ? 'manual' : 'auto';
      return [{ type: 'compacted', trigger }];
    }
    const tool = textIn(line, 'tool_name');
    return line.subtype === 'permission_denied' && tool !== undefined ? [{ type: 'denied', tool }] : [];
  };

  return { read: (line) => [{ type: 'activity' }, ...read(line)], resetAt: () => resetAt };
}

/** Times are in seconds in some places and in milliseconds in others. */
export const inMs = (time: number | undefined): number | undefined =>
  time === undefined ? undefined : time < 1e11 ? time * 1000 : time;

const detailKeys = [
  'command',
  'file_path',
  'notebook_path',
  'pattern',
  'url',
  'query',
  'skill',
  'description',
];
const maxDetail = 120;

function detailOf(input: Payload | undefined): string | undefined {
  const value = detailKeys.map((key) => textIn(input, key)).find((text) => text !== undefined);
  const line = value?.trim().split('\n')[0]?.trim();
  if (line === undefined || line === '') return undefined;
  return line.length > maxDetail ? `${line.slice(0, maxDetail - 1)}…` : line;
}
