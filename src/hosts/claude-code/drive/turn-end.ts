import type { TurnEnd, TurnFailure } from '../../../runtime/index.ts';
import { isPayload, numberIn, type Payload, partIn, textIn } from '../../payload.ts';
import { inMs, listIn, wasInterrupted } from './stream.ts';

type Spent = TurnEnd['spent'];

/**
 * What the process has spent after this result. `modelUsage` and `total_cost_usd` also have what the session had spent
 * before it was resumed, but only if that process ended by itself. `usage` has no subagents and no compaction, and
 * assistant messages have no usage that counts.
 */
export function spentAfter(result: Payload, before: Spent): Spent {
  const since = partIn(result, 'model_usage_since_last_result');
  const all = since ?? partIn(result, 'modelUsage') ?? {};
  const models = Object.values(all).filter(isPayload);
  const of = (key: string): number => models.reduce((sum, each) => sum + (numberIn(each, key) ?? 0), 0);
  const tokens = of('inputTokens') + of('cacheCreationInputTokens') + of('outputTokens');
  const { tokens: earlier, cost = 0 } = since ? before : { tokens: 0 };
  return { tokens: earlier + tokens, cost: cost + of('costUSD') };
}

/** Trouble with the model service is `subtype: success` with `is_error`. */
export function failureIn(result: Payload, reportedReset: number | undefined): TurnFailure | undefined {
  if (result.is_error !== true || wasInterrupted(result)) return undefined;
  const errors = Array.isArray(result.errors) ? result.errors.filter((each) => typeof each === 'string') : [];
  const subtype = textIn(result, 'subtype') ?? '';
  const text = textIn(result, 'result') ?? (errors.join('\n') || subtype);
  const status = numberIn(result, 'api_error_status');
  if (subtype.startsWith('error_max_') || status === 413 || /prompt is too long/i.test(text))
    return { kind: 'limit', text };
  const resetAt = resetIn(text) ?? (status === undefined || status === 429 ? reportedReset : undefined);
  return {
    kind: 'model_service',
    text,
    ...(status === undefined ? {} : { status }),
    ...(resetAt === undefined ? {} : { resetAt }),
  };
}

/** A usage limit ends in `|` and the time of its reset. */
function resetIn(text: string): number | undefined {
  const time = /\|(\d{10}|\d{13})\b/.exec(text)?.[1];
  return time === undefined ? undefined : inMs(Number(time));
}

export interface Denial {
  id: string;
  tool: string;
}

export const denialsIn = (result: Payload): Denial[] =>
  listIn(result, 'permission_denials').flatMap((each) => {
    const tool = textIn(each, 'tool_name');
    return tool === undefined ? [] : [{ tool, id: textIn(each, 'tool_use_id') ?? tool }];
  });
