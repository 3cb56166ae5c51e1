import type { Capability } from '../../runtime/index.ts';
import type { Registration } from '../claude-format/index.ts';

/** As of Copilot CLI 1.0.102. What a hook says to the person is shown only where it blocks a prompt. */
export const capabilities: readonly Capability[] = [
  {
    kind: 'session_start',
    event: 'sessionStart',
    tells: 'context',
    note: 'at the first prompt: new, resume; not after a compaction',
  },
  {
    kind: 'prompt',
    event: 'userPromptSubmitted',
    tells: 'context',
    note: 'the first fallback; also fires for the reason of a held stop',
  },
  {
    kind: 'before_tool',
    event: 'preToolUse',
    tells: 'context and deny',
    note: 'denies tools that an agent cannot use; a hook that fails denies as well',
  },
  { kind: 'after_tool', event: 'postToolUse', tells: 'context', note: 'not after a tool that failed' },
  { kind: 'before_compact', event: 'preCompact', tells: 'nothing', note: 'its output is ignored' },
  { kind: 'stop', event: 'agentStop', tells: 'block', note: 'the host stops anyway after eight in a row' },
  { kind: 'subagent_start', event: 'subagentStart', tells: 'context', note: 'reaches the subagent' },
  { kind: 'subagent_stop', event: 'subagentStop', tells: 'block', note: '' },
  { kind: 'session_end', event: 'sessionEnd', tells: 'nothing', note: '' },
];

/** Several for one event where tools differ in when they matter: without the mark a hook costs one file test. */
export const registrations: readonly Registration[] = [
  { event: 'sessionStart', mark: 'session_start', timeout: 15 },
  { event: 'sessionEnd', mark: 'session_end', timeout: 5 },
  { event: 'userPromptSubmitted', mark: 'prompt', timeout: 15 },
  { event: 'preCompact', mark: 'before_compact', timeout: 15 },
  { event: 'agentStop', mark: 'stop', timeout: 60 },
  { event: 'subagentStart', mark: 'subagent_start', timeout: 15 },
  { event: 'subagentStop', mark: 'subagent_stop', timeout: 60 },
  { event: 'preToolUse', matcher: '^(?!stepfast-|task$).*', mark: 'before_tool', timeout: 10 },
  { event: 'preToolUse', matcher: 'stepfast-.*', mark: 'before_tool-stepfast', timeout: 10 },
  { event: 'preToolUse', matcher: 'task', mark: 'before_tool-agent', timeout: 10 },
  { event: 'permissionRequest', matcher: 'stepfast/.*', mark: 'before_tool-stepfast', timeout: 10 },
  { event: 'postToolUse', matcher: 'stepfast-.*', mark: 'after_tool-stepfast', timeout: 15 },
  { event: 'postToolUse', matcher: 'view', mark: 'after_tool-read', timeout: 15 },
  { event: 'postToolUse', matcher: 'create|edit|apply_patch', mark: 'after_tool-write', timeout: 15 },
  { event: 'postToolUse', matcher: 'bash|read_bash|powershell', mark: 'after_tool-shell', timeout: 15 },
];
