import { type Environment, type HookInput, type HookKind, markedHost } from '../../runtime/index.ts';
import { parsePayload } from '../claude-format/index.ts';
import { isPayload } from '../payload.ts';
import { toolUse } from './tool-use.ts';

export const hostName = 'gemini';

const kinds: Readonly<Record<string, HookKind>> = {
  SessionStart: 'session_start',
  SessionEnd: 'session_end',
  BeforeAgent: 'prompt',
  BeforeTool: 'before_tool',
  AfterTool: 'after_tool',
  PreCompress: 'before_compact',
  AfterAgent: 'stop',
};

/** What a hook said at the start of the session is before the first prompt. */
const injected = /^(?:<hook_context>[\s\S]*?<\/hook_context>\s*)+/;

export function parse(event: string, payload: unknown, env: Environment): HookInput | undefined {
  if (!isPayload(payload) || markedHost(payload, env) !== hostName) return undefined;
  // The automatic one comes before every request of the model, whether anything is compressed or not.
  if (event === 'PreCompress' && payload.trigger !== 'manual') return undefined;
  const said = {
    ...payload,
    prompt: typeof payload.prompt === 'string' ? payload.prompt.replace(injected, '') : undefined,
    last_assistant_message: payload.prompt_response,
  };
  // The host gives no ids; its times tell events apart.
  return parsePayload({ host: hostName, kinds, turn: 'timestamp', toolUse }, event, said);
}
