import type { Capability } from '../../runtime/index.ts';

/** As of Codex 0.169.0. */
export const capabilities: readonly Capability[] = [
  {
    kind: 'session_start',
    event: 'SessionStart',
    tells: 'context',
    note: 'at the first prompt: startup, resume, clear, compact',
  },
  { kind: 'prompt', event: 'UserPromptSubmit', tells: 'context', note: 'the first fallback' },
  {
    kind: 'before_tool',
    event: 'PreToolUse',
    tells: 'context and deny',
    note: 'denies tools that an agent cannot use',
  },
  { kind: 'after_tool', event: 'PostToolUse', tells: 'context', note: 'not after a tool that failed' },
  { kind: 'before_compact', event: 'PreCompact', tells: 'nothing', note: 'its output is ignored' },
  { kind: 'stop', event: 'Stop', tells: 'block', note: 'the host never stops anyway: Stepfast bounds it' },
  { kind: 'subagent_start', event: 'SubagentStart', tells: 'context', note: 'reaches the subagent' },
  { kind: 'subagent_stop', event: 'SubagentStop', tells: 'block', note: '' },
  { kind: 'session_end', event: 'SessionEnd', tells: 'nothing', note: 'killed after 3 s' },
];
