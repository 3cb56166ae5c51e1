/** What a notification means. They may change with every version, so every part is checked where it is read. */
import type { HostEvent, TurnFailure } from '../../../runtime/index.ts';
import { numberIn, type Payload, partIn, textIn } from '../../payload.ts';

/** The name of a tool as hooks know it, with one short line about the call. undefined: no tool. */
function toolOf(item: Payload): { name: string; detail?: string | undefined } | undefined {
  switch (item.type) {
    case 'commandExecution':
      return { name: 'Bash', detail: commandOf(item) };
    case 'fileChange':
      return { name: 'apply_patch', detail: firstPath(item.changes) };
    case 'mcpToolCall':
      return { name: `mcp__${textIn(item, 'server')}__${textIn(item, 'tool')}` };
    case 'collabAgentToolCall':
      return { name: textIn(item, 'tool') ?? 'agent', detail: textIn(item, 'prompt') };
    case 'webSearch':
      return { name: 'web_search', detail: textIn(item, 'query') };
    case 'dynamicToolCall':
      return { name: textIn(item, 'tool') ?? 'tool' };
    default:
      return undefined;
  }
}

/** As the agent wrote it, without the shell around it. */
function commandOf(item: Payload): string | undefined {
  const { commandActions: parts } = item;
  const commands = (Array.isArray(parts) ? parts : []).flatMap((part) => textIn(part, 'command') ?? []);
  return commands.length > 0 ? commands.join(' && ') : textIn(item, 'command');
}

const firstPath = (changes: unknown): string | undefined =>
  Array.isArray(changes) ? textIn(changes[0], 'path') : undefined;

const maxDetail = 120;

function shortened(text: string | undefined): string | undefined {
  const line = text?.trim().split('\n')[0]?.trim();
  if (line === undefined || line === '') return undefined;
  return line.length > maxDetail ? `${line.slice(0, maxDetail - 1)}…` : line;
}

/** The events of `item/started` and `item/completed`. */
export function itemEvents(item: Payload, open: boolean): HostEvent[] {
  const text = textIn(item, 'text');
  if (item.type === 'agentMessage') return open || text === undefined ? [] : [{ type: 'text', text }];
  // It does not say what triggered it; the caller knows.
  if (item.type === 'contextCompaction') return open ? [] : [{ type: 'compacted', trigger: 'auto' }];
  const tool = toolOf(item);
  const id = textIn(item, 'id');
  if (!tool || id === undefined) return [];
  const detail = shortened(tool.detail);
  const event: HostEvent = {
    type: 'tool',
    id,
    name: tool.name,
    open,
    ...(open && detail !== undefined ? { detail } : {}),
  };
  return item.status === 'declined' ? [event, { type: 'denied', tool: tool.name }] : [event];
}

/** Tokens of one answer of the model. What was read from a cache does not count. */
export function tokensIn(params: Payload): number {
  const last = partIn(partIn(params, 'tokenUsage'), 'last');
  const of = (key: string): number => numberIn(last, key) ?? 0;
  return of('inputTokens') - of('cachedInputTokens') + of('outputTokens');
}

/** When the limit that is used up ends, in milliseconds since the epoch. */
export function resetIn(params: Payload): number | undefined {
  const limits = partIn(params, 'rateLimits');
  const used = [partIn(limits, 'primary'), partIn(limits, 'secondary')].filter(
    (window) => (numberIn(window, 'usedPercent') ?? 0) >= 100,
  );
  const resets = used.flatMap((window) => numberIn(window, 'resetsAt') ?? []);
  return resets.length === 0 ? undefined : Math.max(...resets) * 1000;
}

const statuses: Readonly<Record<string, number>> = {
  usageLimitExceeded: 429,
  rateLimitExceeded: 429,
  serverOverloaded: 529,
  internalServerError: 500,
  unauthorized: 401,
};

/** `error`: of a turn that failed, or of a request that Codex tries again. */
export function statusOf(error: Payload | undefined): number | undefined {
  const info = error?.codexErrorInfo;
  if (typeof info === 'string') return statuses[info];
  if (typeof info !== 'object' || info === null) return undefined;
  const [detail] = Object.values(info);
  return typeof detail === 'object' ? numberIn(detail, 'httpStatusCode') : undefined;
}

export function failureIn(turn: Payload, reset: number | undefined): TurnFailure | undefined {
  if (turn.status !== 'failed') return undefined;
  const error = partIn(turn, 'error');
  const text = textIn(error, 'message') ?? 'The turn failed.';
  const info = error?.codexErrorInfo;
  if (info === 'contextWindowExceeded' || info === 'sessionBudgetExceeded') return { kind: 'limit', text };
  const status = statusOf(error);
  const resetAt = status === undefined || status === 429 ? reset : undefined;
  return {
    kind: 'model_service',
    text,
    ...(status === undefined ? {} : { status }),
    ...(resetAt === undefined ? {} : { resetAt }),
  };
}
