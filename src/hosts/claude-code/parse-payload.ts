import { type Environment, type HookInput, type HookKind, markedHost } from '../../runtime/index.ts';
import { isPayload, type Payload, partIn, textIn } from './payload.ts';
import { toolUse } from './tool-use.ts';

export const hostName = 'claude-code';

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

const sources = ['startup', 'resume', 'clear', 'compact', 'fork'] as const;
const longest = 200;

export function parse(event: string, payload: unknown, env: Environment): HookInput | undefined {
  const kind = Object.hasOwn(kindOf, event) ? kindOf[event] : undefined;
  if (kind === undefined || !isPayload(payload) || markedHost(payload, env) !== undefined) return undefined;
  if (payload.hook_event_name !== event) return undefined;
  const [session, cwd] = [textIn(payload, 'session_id'), textIn(payload, 'cwd')];
  if (session === undefined || session.length > longest || cwd === undefined) return undefined;
  // The host's own summarizer is an agent without a type.
  if (payload.agent_type === '') return undefined;
  const agent = agentIn(payload);
  if ((kind === 'subagent_start' || kind === 'subagent_stop') && !agent) return undefined;
  const transcript = textIn(payload, 'transcript_path');
  const id = textIn(payload, 'tool_use_id') ?? textIn(payload, 'prompt_id');
  return {
    host: hostName,
    kind,
    session,
    cwd,
    ...(agent ? { agent } : {}),
    ...(transcript === undefined ? {} : { transcript }),
    ...(id === undefined ? {} : { id }),
    ...own(kind, payload),
  };
}

function agentIn(payload: Payload): HookInput['agent'] {
  const [id, type] = [textIn(payload, 'agent_id'), textIn(payload, 'agent_type')];
  if (id === undefined || id.length > longest) return undefined;
  return { id, ...(type === undefined ? {} : { type }) };
}

/** The properties of this kind of event only. */
function own(kind: HookKind, payload: Payload): Partial<HookInput> {
  switch (kind) {
    case 'session_start':
      // An unknown source counts as the most common one.
      return { source: sources.find((each) => each === payload.source) ?? 'startup' };
    case 'session_end':
      return { cleared: payload.reason === 'clear' };
    case 'before_compact':
      return { trigger: payload.trigger === 'auto' ? 'auto' : 'manual' };
    case 'before_tool':
    case 'after_tool': {
      const tool = toolUse(payload);
      return tool ? { tool } : {};
    }
    case 'subagent_start': {
      const prompt = textIn(payload, 'prompt') ?? textIn(partIn(payload, 'tool_input'), 'prompt');
      return prompt === undefined ? {} : { tool: { name: 'Agent', kind: 'agent', prompt } };
    }
    case 'prompt': {
      const prompt = textIn(payload, 'prompt');
      return prompt === undefined ? {} : { prompt };
    }
    case 'stop':
    case 'subagent_stop': {
      const lastMessage = textIn(payload, 'last_assistant_message');
      const { background_tasks: tasks } = payload;
      return {
        stopActive: payload.stop_hook_active === true,
        inBackground: Array.isArray(tasks) && tasks.length > 0,
        ...(lastMessage === undefined ? {} : { lastMessage }),
      };
    }
    default:
      return {};
  }
}
