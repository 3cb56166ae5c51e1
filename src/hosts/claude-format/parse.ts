import type { HookInput, HookKind, ToolUse } from '../../runtime/index.ts';
import { type Payload, partIn, textIn } from '../payload.ts';

/** What differs in the payloads of programs whose hooks have the shape of Claude Code's. */
export interface PayloadFormat {
  host: string;
  /** By the host's own names. */
  kinds: Readonly<Record<string, HookKind>>;
  /** The key of the id that all events of a turn share. */
  turn: string;
  toolUse(payload: Payload): ToolUse | undefined;
}

const sources = ['startup', 'resume', 'clear', 'compact', 'fork'] as const;
const longest = 200;

/** The caller has made sure that it is a payload of this host. */
export function parsePayload(format: PayloadFormat, event: string, payload: Payload): HookInput | undefined {
  const { host, kinds, turn } = format;
  const kind = Object.hasOwn(kinds, event) ? kinds[event] : undefined;
  if (kind === undefined || payload.hook_event_name !== event) return undefined;
  const [session, cwd] = [textIn(payload, 'session_id'), textIn(payload, 'cwd')];
  if (session === undefined || session.length > longest || cwd === undefined) return undefined;
  const agent = agentIn(payload);
  if ((kind === 'subagent_start' || kind === 'subagent_stop') && !agent) return undefined;
  const transcript = textIn(payload, 'transcript_path');
  const id = textIn(payload, 'tool_use_id') ?? textIn(payload, turn);
  return {
    host,
    kind,
    session,
    cwd,
    ...(agent ? { agent } : {}),
    ...(transcript === undefined ? {} : { transcript }),
    ...(id === undefined ? {} : { id }),
    ...own(kind, payload, format),
  };
}

function agentIn(payload: Payload): HookInput['agent'] {
  const [id, type] = [textIn(payload, 'agent_id'), textIn(payload, 'agent_type')];
  if (id === undefined || id.length > longest) return undefined;
  return { id, ...(type === undefined ? {} : { type }) };
}

/** The properties of this kind of event only. */
function own(kind: HookKind, payload: Payload, { toolUse }: PayloadFormat): Partial<HookInput> {
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
