import type { HookInput } from '../../runtime/index.ts';
import { parsePayload } from '../claude-format/index.ts';
import { isPayload } from '../payload.ts';
import { kindOf } from './events.ts';
import { toolUse } from './tool-use.ts';

export const hostName = 'opencode';

/** Payloads are written by our own plugin, which names itself in them. */
export function parse(event: string, payload: unknown): HookInput | undefined {
  if (!isPayload(payload) || payload.host !== hostName) return undefined;
  return parsePayload({ host: hostName, kinds: kindOf, turn: 'prompt_id', toolUse }, event, payload);
}
