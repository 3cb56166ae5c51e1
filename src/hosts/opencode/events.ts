import type { HookKind } from '../../runtime/index.ts';

/** What the plugin calls its events, close to OpenCode's own names. */
export const kindOf = {
  'session.start': 'session_start',
  'session.end': 'session_end',
  'chat.message': 'prompt',
  'tool.before': 'before_tool',
  'tool.after': 'after_tool',
  'session.compacting': 'before_compact',
  'session.idle': 'stop',
  'subagent.start': 'subagent_start',
  'subagent.idle': 'subagent_stop',
} as const satisfies Readonly<Record<string, HookKind>>;

export type EventName = keyof typeof kindOf;

/** The plugin adds it to the arguments of Stepfast's own tools: OpenCode sends no `_meta` with a call. */
export const callIdKey = 'opencode/callId';

/** The plugin sets it in every shell of a session. */
export const sessionVariable = 'OPENCODE_SESSION_ID';
