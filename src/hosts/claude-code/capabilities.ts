import type { Capability } from '../../runtime/index.ts';
import type { Registration } from '../claude-format/index.ts';

/** As of Claude Code 2.1.325. */
export const capabilities: readonly Capability[] = [
  { kind: 'session_start', event: 'SessionStart', tells: 'context', note: 'startup, resume, clear, compact' },
  { kind: 'prompt', event: 'UserPromptSubmit', tells: 'context', note: 'the first fallback' },
  {
    kind: 'before_tool',
    event: 'PreToolUse',
    tells: 'context and deny',
    note: 'denies tools that an agent cannot use',
  },
  { kind: 'after_tool', event: 'PostToolUse', tells: 'context', note: 'plain output is dropped' },
  {
    kind: 'before_compact',
    event: 'PreCompact',
    tells: 'summariser',
    note: 'plain output is added to the instructions of the summarizer; never blocks',
  },
  { kind: 'stop', event: 'Stop', tells: 'block', note: 'the host stops anyway after about eight in a row' },
  { kind: 'subagent_start', event: 'SubagentStart', tells: 'context', note: 'reaches the subagent' },
  { kind: 'subagent_stop', event: 'SubagentStop', tells: 'block', note: 'also fires for the summarizer' },
  { kind: 'session_end', event: 'SessionEnd', tells: 'nothing', note: 'killed after about 1.5 s' },
];

const stepfastTools = 'mcp__(plugin_stepfast_)?stepfast__.*';

/** Several for one event where tools differ in when they matter: without the mark a hook costs one file test. */
export const registrations: readonly Registration[] = [
  { event: 'SessionStart', mark: 'session_start', timeout: 15 },
  { event: 'SessionStart', mark: 'start_wake', timeout: 60, wakes: 'Stepfast continues the run' },
  { event: 'SessionEnd', mark: 'session_end', timeout: 5 },
  { event: 'UserPromptSubmit', mark: 'prompt', timeout: 15 },
  { event: 'PreCompact', mark: 'before_compact', timeout: 15 },
  { event: 'Stop', mark: 'stop', timeout: 60, status: 'Stepfast checks the work' },
  { event: 'Stop', mark: 'stop_wake', timeout: 7200, wakes: 'Stepfast: a check has ended' },
  { event: 'SubagentStart', mark: 'subagent_start', timeout: 15 },
  { event: 'SubagentStop', mark: 'subagent_stop', timeout: 60 },
  {
    event: 'PreToolUse',
    matcher: '^(?!mcp__(plugin_stepfast_)?stepfast__|(Agent|Task|CronCreate|ScheduleWakeup)$).*',
    mark: 'before_tool',
    timeout: 10,
  },
  { event: 'PreToolUse', matcher: stepfastTools, mark: 'before_tool-stepfast', timeout: 10 },
  { event: 'PreToolUse', matcher: 'Agent|Task', mark: 'before_tool-agent', timeout: 10 },
  {
    event: 'PreToolUse',
    matcher: 'CronCreate|ScheduleWakeup',
    mark: 'before_tool-schedule',
    timeout: 10,
  },
  { event: 'PostToolUse', matcher: stepfastTools, mark: 'after_tool-stepfast', timeout: 15 },
  { event: 'PostToolUse', matcher: 'Read', mark: 'after_tool-read', timeout: 15 },
  { event: 'PostToolUse', matcher: 'Write|Edit|NotebookEdit', mark: 'after_tool-write', timeout: 15 },
  { event: 'PostToolUse', matcher: 'Bash', mark: 'after_tool-shell', timeout: 15 },
];
