import type { StatusLineInput } from '../../runtime/index.ts';
import { isPayload, numberIn, partIn, textIn } from '../payload.ts';

export function parseStatusLine(payload: unknown): StatusLineInput | undefined {
  if (!isPayload(payload)) return undefined;
  const session = textIn(payload, 'session_id');
  const cwd = textIn(partIn(payload, 'workspace'), 'current_dir') ?? textIn(payload, 'cwd');
  if (session === undefined || cwd === undefined) return undefined;
  const used = numberIn(partIn(payload, 'context_window'), 'used_percentage');
  const cost = numberIn(partIn(payload, 'cost'), 'total_cost_usd');
  return {
    session,
    cwd,
    pressure: used !== undefined && used >= 0 && used <= 100 ? used : undefined,
    cost: cost !== undefined && cost >= 0 ? cost : undefined,
  };
}
