import { openCode } from '../../../src/hosts/opencode/index.ts';
import type { HookInput } from '../../../src/runtime/index.ts';
import { claudeDialect } from './claude-code.ts';
import type { HostDialect } from './dialect.ts';

const openCodeEvents: Readonly<Record<HookInput['kind'], string>> = {
  session_start: 'session.start',
  session_end: 'session.end',
  prompt: 'chat.message',
  before_tool: 'tool.before',
  after_tool: 'tool.after',
  before_compact: 'session.compacting',
  stop: 'session.idle',
  subagent_start: 'subagent.start',
  subagent_stop: 'subagent.idle',
  wake: 'session.idle',
};

const openCodeNames = { read: 'read', write: 'write', shell: 'bash', agent: 'task' } as const;

/** As its plugin writes them. */
export const openCodeDialect: HostDialect = {
  host: openCode,
  names: { edit: 'edit', status: 'stepfast_workflow_status', command: '/stepfast ' },
  payload(input) {
    const { payload } = claudeDialect.payload(input);
    const { kind, tool } = input;
    const event = openCodeEvents[kind];
    const { path, command, prompt, agent, at, answer } = tool ?? {};
    const used = tool && {
      tool_name:
        tool.kind === 'stepfast' || tool.kind === 'other' || tool.kind === 'schedule'
          ? tool.name
          : openCodeNames[tool.kind],
      tool_input: { filePath: path, command, subagent_type: agent, prompt, at },
      tool_response: answer ? JSON.stringify(answer) : undefined,
      tool_metadata: { truncated: tool.whole === false },
    };
    return { event, payload: { ...payload, host: 'opencode', hook_event_name: event, ...used } };
  },
  output: (stdout) => (stdout === '' ? {} : JSON.parse(stdout)),
};
