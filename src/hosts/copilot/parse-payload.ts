import { createHash } from 'node:crypto';
import { basename, dirname, join } from 'node:path';
import { type Environment, type HookInput, type HookKind, markedHost } from '../../runtime/index.ts';
import { callIdOfSession } from '../call-id.ts';
import { isPayload, numberIn, type Payload, textIn } from '../payload.ts';
import { toolUse } from './tool-use.ts';

export const hostName = 'copilot';

export const kindOf: Readonly<Record<string, HookKind>> = {
  sessionStart: 'session_start',
  sessionEnd: 'session_end',
  userPromptSubmitted: 'prompt',
  preToolUse: 'before_tool',
  permissionRequest: 'before_tool',
  postToolUse: 'after_tool',
  preCompact: 'before_compact',
  agentStop: 'stop',
  subagentStart: 'subagent_start',
  subagentStop: 'subagent_stop',
};

const longest = 200;

/** Payloads do not name their event, so that of the registration counts. */
export function parse(event: string, payload: unknown, env: Environment): HookInput | undefined {
  const kind = Object.hasOwn(kindOf, event) ? kindOf[event] : undefined;
  if (kind === undefined || !isPayload(payload) || markedHost(payload, env) !== hostName) return undefined;
  const { sessionId: sender, cwd } = payload;
  const timestamp = numberIn(payload, 'timestamp');
  if (typeof sender !== 'string' || typeof cwd !== 'string' || timestamp === undefined) return undefined;
  const agent = agentIn(payload);
  const isOfAgent = kind === 'subagent_start' || kind === 'subagent_stop';
  // A subagent's prompt and the end of its turn have events of their own.
  if (isOfAgent ? !agent : agent && (kind === 'prompt' || kind === 'stop')) return undefined;
  const named = textIn(payload, 'transcriptPath');
  // Events in a subagent have its id in place of the session's.
  const session = agent && sender === agent.id ? parentIn(payload, named) : sender;
  if (session === undefined || session === '' || session.length > longest) return undefined;
  const tool = kind === 'before_tool' || kind === 'after_tool' ? toolUse(payload) : undefined;
  if (event === 'permissionRequest' && tool?.kind !== 'stepfast') return undefined;
  const isCall = kind === 'before_tool' && tool?.kind === 'stepfast';
  return {
    host: hostName,
    kind,
    session,
    cwd,
    ...(agent ? { agent } : {}),
    transcript: named ?? transcriptOf(session, env),
    // Hooks of the user, the repository and plugins get the same time for one event.
    id: isCall ? callIdOfSession(hostName, session) : [timestamp, argumentsIn(payload)].join('-'),
    ...(tool ? { tool } : {}),
    ...own(kind, payload),
  };
}

function agentIn(payload: Payload): HookInput['agent'] {
  const [id, type] = [textIn(payload, 'agentId'), textIn(payload, 'agentType')];
  if (id === undefined || id.length > longest) return undefined;
  return { id, ...(type === undefined ? {} : { type }) };
}

const parentIn = (payload: Payload, transcript: string | undefined): string | undefined =>
  transcript === undefined ? textIn(payload, 'parentAgentId') : basename(dirname(transcript));

export const transcriptOf = (session: string, { COPILOT_HOME, HOME = '' }: Environment): string =>
  join(COPILOT_HOME || join(HOME, '.copilot'), 'session-state', session, 'events.jsonl');

/** Calls of one message have the same time. */
const argumentsIn = ({ toolArgs }: Payload): string =>
  toolArgs === undefined
    ? ''
    : createHash('sha256').update(JSON.stringify(toolArgs)).digest('hex').slice(0, 16);

/** The properties of this kind of event only. */
function own(kind: HookKind, payload: Payload): Partial<HookInput> {
  switch (kind) {
    case 'session_start':
      return { source: payload.source === 'resume' ? 'resume' : 'startup' };
    case 'session_end':
      // Also when the program ends: then no other session of its process replaces this one.
      return { cleared: payload.reason === 'user_exit' };
    case 'before_compact':
      return { trigger: payload.trigger === 'auto' ? 'auto' : 'manual' };
    case 'prompt': {
      const prompt = textIn(payload, 'prompt');
      return prompt === undefined ? {} : { prompt: asTyped(prompt) };
    }
    case 'stop':
    case 'subagent_stop': {
      const lastMessage = textIn(payload, 'response');
      return {
        stopActive: payload.stop_hook_active === true,
        ...(lastMessage === undefined ? {} : { lastMessage }),
      };
    }
    default:
      return {};
  }
}

const expandedSkill = /^The user explicitly invoked the "\/stepfast" skill[\s\S]*<typed>([\s\S]*?)<\/typed>/;

/** From a terminal the skill arrives expanded, with `-p` as it was typed. */
function asTyped(prompt: string): string {
  const words = expandedSkill.exec(prompt)?.[1];
  return words === undefined ? prompt : `/stepfast ${words.trim()}`;
}
