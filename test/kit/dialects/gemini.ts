import { gemini } from '../../../src/hosts/gemini/index.ts';
import type { HookInput } from '../../../src/runtime/index.ts';
import type { HostDialect } from './dialect.ts';

const geminiEvents: Readonly<Partial<Record<HookInput['kind'], string>>> = {
  session_start: 'SessionStart',
  session_end: 'SessionEnd',
  prompt: 'BeforeAgent',
  before_tool: 'BeforeTool',
  after_tool: 'AfterTool',
  before_compact: 'PreCompress',
  stop: 'AfterAgent',
};

const geminiTools = {
  read: 'read_file',
  write: 'write_file',
  shell: 'run_shell_command',
  agent: 'invoke_agent',
} as const;

export const geminiDialect: HostDialect = {
  host: gemini,
  names: {
    edit: 'replace',
    status: 'mcp_stepfast_workflow_status',
    command: '/stepfast:',
    project: 'GEMINI_PROJECT_DIR',
  },
  noSubagents: true,
  noCallIds: true,
  payload({ kind, session, cwd, id = '0', agent, prompt, source, cleared, tool, stopActive }) {
    const event = geminiEvents[kind] ?? kind;
    const answer = tool?.answer && JSON.stringify(tool.answer);
    const used = tool && {
      tool_name:
        tool.kind === 'stepfast' || tool.kind === 'other' || tool.kind === 'schedule'
          ? tool.name
          : geminiTools[tool.kind],
      tool_input: { file_path: tool.path, at: tool.at },
      tool_response: {
        llmContent: `<untrusted_context>\n${answer}\n</untrusted_context>`,
        returnDisplay: answer ?? '',
      },
    };
    const payload = {
      session_id: session,
      transcript_path: '/nowhere/chats/session-2026-11-17T22-25-d99170f0.jsonl',
      cwd,
      hook_event_name: event,
      timestamp: new Date(1_794_954_336_000 + Number(id)).toISOString(),
      agent_id: agent?.id,
      prompt,
      source,
      reason: cleared ? 'clear' : 'exit',
      trigger: 'manual',
      stop_hook_active: stopActive,
      ...used,
    };
    return { event, payload };
  },
  output(stdout) {
    if (stdout === '') return {};
    const { decision, reason, systemMessage, hookSpecificOutput: own = {} } = JSON.parse(stdout);
    const isStop = !stdout.includes('hookEventName') && decision === 'deny';
    return {
      ...(own.additionalContext === undefined ? {} : { context: own.additionalContext }),
      ...(isStop ? { deny: reason, block: reason } : {}),
      ...(systemMessage === undefined ? {} : { say: systemMessage }),
    };
  },
};
