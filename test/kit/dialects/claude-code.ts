import { claudeCode } from '../../../src/hosts/claude-code/index.ts';
import type { HookInput } from '../../../src/runtime/index.ts';
import type { HostDialect } from './dialect.ts';

const claudeEvents: Readonly<Record<HookInput['kind'], string>> = {
  session_start: 'SessionStart',
  session_end: 'SessionEnd',
  prompt: 'UserPromptSubmit',
  before_tool: 'PreToolUse',
  after_tool: 'PostToolUse',
  before_compact: 'PreCompact',
  stop: 'Stop',
  subagent_start: 'SubagentStart',
  subagent_stop: 'SubagentStop',
  wake: 'Stop',
};

const claudeTools = {
  read: 'Read',
  write: 'Write',
  shell: 'Bash',
  agent: 'Agent',
  schedule: 'CronCreate',
} as const;

export const claudeDialect: HostDialect = {
  host: claudeCode,
  names: {
    edit: 'Edit',
    command: '/stepfast:',
    status: 'mcp__plugin_stepfast_stepfast__workflow_status',
    project: 'CLAUDE_PROJECT_DIR',
  },
  payload({ kind, session, cwd, agent, id, prompt, source, cleared, tool, stopActive, trigger }) {
    const event = claudeEvents[kind];
    const name =
      tool && (tool.kind === 'stepfast' || tool.kind === 'other' ? tool.name : claudeTools[tool.kind]);
    const used = tool && {
      tool_name: name,
      tool_use_id: id,
      tool_input: { file_path: tool.path, at: tool.at, subagent_type: tool.agent, prompt: tool.prompt },
      tool_response: tool.answer ? [{ type: 'text', text: JSON.stringify(tool.answer) }] : {},
    };
    const payload = {
      session_id: session,
      cwd,
      hook_event_name: event,
      transcript_path: '/nowhere/transcript.jsonl',
      prompt_id: id,
      prompt,
      agent_id: agent?.id,
      agent_type: agent?.type,
      source,
      reason: cleared ? 'clear' : 'other',
      trigger,
      stop_hook_active: stopActive,
      ...used,
    };
    return { event, payload };
  },
  output(stdout) {
    if (stdout === '') return {};
    if (!stdout.startsWith('{')) return { survive: stdout };
    const { decision, reason, systemMessage, hookSpecificOutput: own = {} } = JSON.parse(stdout);
    return {
      ...(own.additionalContext === undefined
        ? {}
        : { [own.hookEventName === 'Stop' ? 'block' : 'context']: own.additionalContext }),
      ...(own.permissionDecision === 'deny' ? { deny: own.permissionDecisionReason } : {}),
      ...(decision === 'block' ? { block: reason } : {}),
      ...(systemMessage === undefined ? {} : { say: systemMessage }),
    };
  },
};
