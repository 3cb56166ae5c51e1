import type { TurnFailure } from '../../runtime/index.ts';
import type { RpcFailure } from './connection.ts';

/** Agents pass the status of the model service on as the code of the error. Any other error is worth another try too. */
export function failureOf({ code, message }: RpcFailure): TurnFailure {
  const isStatus = code >= 400 && code < 600;
  if (code === 413 || /(?:prompt|context|input)[^.]* (?:is )?too (?:long|large)/i.test(message))
    return { kind: 'limit', text: message };
  return { kind: 'model_service', text: message, ...(isStatus ? { status: code } : {}) };
}

/** undefined for a turn that ended as it should. */
export const failureAt = (stopReason: string | undefined): TurnFailure | undefined =>
  stopReason === 'max_tokens' || stopReason === 'max_turn_requests' || stopReason === 'refusal'
    ? { kind: 'limit', text: stopReason }
    : undefined;
