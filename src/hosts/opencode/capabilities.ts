import type { Capability } from '../../runtime/index.ts';

/** As of OpenCode 1.18.33. */
export const capabilities: readonly Capability[] = [
  {
    kind: 'session_start',
    event: 'chat.message',
    tells: 'context',
    note: 'at the first prompt: startup, resume, clear; after a compaction with the next request',
  },
  { kind: 'prompt', event: 'chat.message', tells: 'context', note: 'the first fallback' },
  {
    kind: 'before_tool',
    event: 'tool.execute.before',
    tells: 'context and deny',
    note: 'denies tools that an agent cannot use',
  },
  {
    kind: 'after_tool',
    event: 'tool.execute.after',
    tells: 'context',
    note: 'added to the output of the tool; not after a tool that failed',
  },
  {
    kind: 'before_compact',
    event: 'experimental.session.compacting',
    tells: 'summariser',
    note: 'added to the context of the summarizer',
  },
  {
    kind: 'stop',
    event: 'session.idle',
    tells: 'block',
    note: 'by a prompt of the plugin, at most eight in a row; not in `opencode run`, which ends first',
  },
  { kind: 'subagent_start', event: 'chat.message', tells: 'context', note: 'reaches the subagent' },
  { kind: 'subagent_stop', event: 'session.idle', tells: 'nothing', note: '' },
  { kind: 'session_end', event: 'session.deleted', tells: 'nothing', note: 'also at /new in the TUI' },
];
