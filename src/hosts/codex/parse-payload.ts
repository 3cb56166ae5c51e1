import { type Environment, type HookInput, type HookKind, markedHost } from '../../runtime/index.ts';
import { parsePayload } from '../claude-format/index.ts';
import { isPayload } from '../payload.ts';
import { toolUse } from './tool-use.ts';

export const hostName = 'codex';

export const kindOf: Readonly<Record<string, HookKind>> = {
  SessionStart: 'session_start',
  SessionEnd: 'session_end',
  UserPromptSubmit: 'prompt',
  PreToolUse: 'before_tool',
  PostToolUse: 'after_tool',
  PreCompact: 'before_compact',
  Stop: 'stop',
  SubagentStart: 'subagent_start',
  SubagentStop: 'subagent_stop',
};

export function parse(event: string, payload: unknown, env: Environment): HookInput | undefined {
  if (!isPayload(payload) || markedHost(payload, env) !== hostName) return undefined;
  return parsePayload({ host: hostName, kinds: kindOf, turn: 'turn_id', toolUse }, event, payload);
}
