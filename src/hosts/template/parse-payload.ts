import type { HookInput, HookKind } from '../../runtime/index.ts';
import { isPayload, type Payload, partIn, textIn } from '../payload.ts';
import { toolUse } from './tool-use.ts';

export const hostName = 'template';

const kinds: Readonly<Record<string, HookKind>> = {
  'session.opened': 'session_start',
  'session.closed': 'session_end',
  'prompt.sent': 'prompt',
  'tool.starting': 'before_tool',
  'tool.finished': 'after_tool',
  'context.compacting': 'before_compact',
  'turn.ending': 'stop',
  'agent.started': 'subagent_start',
  'agent.ended': 'subagent_stop',
};

/** Ids become names of files. */
const longest = 200;

/** The program names itself in `program`, which no other host does. */
export function parse(event: string, payload: unknown): HookInput | undefined {
  const kind = Object.hasOwn(kinds, event) ? kinds[event] : undefined;
  if (kind === undefined || !isPayload(payload) || payload.program !== hostName) return undefined;
  const [session, cwd] = [textIn(payload, 'conversation'), textIn(payload, 'folder')];
  if (session === undefined || session.length > longest || cwd === undefined) return undefined;
  const agent = agentIn(payload);
  if ((kind === 'subagent_start' || kind === 'subagent_stop') && !agent) return undefined;
  const transcript = textIn(payload, 'log');
  // A call has an id of its own; all other events of a turn share that of the turn.
  const id = textIn(payload, 'call') ?? textIn(payload, 'turn');
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
  const agent = partIn(payload, 'agent');
  const [id, type] = [textIn(agent, 'id'), textIn(agent, 'role')];
  if (id === undefined || id.length > longest) return undefined;
  return { id, ...(type === undefined ? {} : { type }) };
}

/** The properties of this kind of event only. */
function own(kind: HookKind, payload: Payload): Partial<HookInput> {
  const text = textIn(payload, 'text');
  switch (kind) {
    case 'session_start':
      return { source: payload.how === 'resumed' ? 'resume' : 'startup' };
    case 'session_end':
      return { cleared: payload.how === 'cleared' };
    case 'before_compact':
      return { trigger: payload.how === 'automatic' ? 'auto' : 'manual' };
    case 'before_tool':
    case 'after_tool': {
      const tool = toolUse(payload);
      return tool ? { tool } : {};
    }
    case 'prompt':
      return text === undefined ? {} : { prompt: text };
    case 'stop':
    case 'subagent_stop':
      return { stopActive: payload.again === true, ...(text === undefined ? {} : { lastMessage: text }) };
    default:
      return {};
  }
}
