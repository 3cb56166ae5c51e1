import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { callIdOfSession } from '../../src/hosts/call-id.ts';
import { claudeCode } from '../../src/hosts/claude-code/index.ts';
import { codex } from '../../src/hosts/codex/index.ts';
import { copilot } from '../../src/hosts/copilot/index.ts';
import { gemini } from '../../src/hosts/gemini/index.ts';
import { openCode } from '../../src/hosts/opencode/index.ts';
import type { HookInput, HookOutput, Host } from '../../src/runtime/index.ts';
import { type TinyPayload, tinyHost } from './tiny-host.ts';

/** How a host would report an event, and what it would understand of the answer. */
export interface HostDialect {
  host: Host;
  /** The host's own names of tools, how a typed command begins, and its variable with the directory of the session. */
  names: { edit: string; status: string; command: string; project?: string };
  payload(input: HookInput): { event: string; payload: object };
  output(stdout: string): HookOutput;
  /** It has no subagents with events of their own, and its calls have no ids. */
  isPlain?: true;
  /** What it shows to the person, on hosts where that is not part of `stdout`. */
  shown?(answer: { stderr: string; exitCode: number }): string | undefined;
  /** The id of a call of Stepfast's own tool, on hosts that give it none. */
  callId?(session: string): string;
}

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

const claude: HostDialect = {
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

const codexTools = { read: 'Bash', write: 'apply_patch', shell: 'Bash', agent: 'spawn_agent' } as const;

/** Like Claude Code, but for names, and files that are read in a shell. */
const codexDialect: HostDialect = {
  host: codex,
  names: { edit: 'apply_patch', status: 'mcp__stepfast__workflow_status', command: '$stepfast ' },
  payload(input) {
    const { event, payload } = claude.payload(input);
    const { tool, id, cwd } = input;
    const { path = '', command, prompt, agent, at } = tool ?? {};
    const patch = `*** Begin Patch\n*** Update File: ${path}\n*** End Patch\n`;
    const used = tool && {
      tool_name:
        tool.kind === 'stepfast' || tool.kind === 'other' || tool.kind === 'schedule'
          ? tool.name
          : codexTools[tool.kind],
      tool_input: {
        command: tool.kind === 'write' ? patch : command,
        agent_type: agent,
        message: prompt,
        at,
      },
      ...(tool.kind === 'read' && tool.whole !== false
        ? { tool_response: readFileSync(resolve(cwd, path), 'utf8') }
        : {}),
    };
    const rollout = '/nowhere/rollout-2026-11-17T19-34-55-x.jsonl';
    const turn = ['session_start', 'session_end'].includes(input.kind) ? {} : { turn_id: id ?? 'turn' };
    return {
      event,
      payload: { ...payload, prompt_id: undefined, ...turn, ...used, transcript_path: rollout },
    };
  },
  output: (stdout) => claude.output(stdout),
};

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
const openCodeDialect: HostDialect = {
  host: openCode,
  names: { edit: 'edit', status: 'stepfast_workflow_status', command: '/stepfast ' },
  payload(input) {
    const { payload } = claude.payload(input);
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

const copilotEvents: Readonly<Record<HookInput['kind'], string>> = {
  session_start: 'sessionStart',
  session_end: 'sessionEnd',
  prompt: 'userPromptSubmitted',
  before_tool: 'preToolUse',
  after_tool: 'postToolUse',
  before_compact: 'preCompact',
  stop: 'agentStop',
  subagent_start: 'subagentStart',
  subagent_stop: 'subagentStop',
  wake: 'agentStop',
};

const copilotTools = {
  read: 'view',
  write: 'create',
  shell: 'bash',
  agent: 'task',
  schedule: 'later',
} as const;

let copilotTime = 1_794_954_117_233;

const copilotDialect: HostDialect = {
  host: copilot,
  names: {
    edit: 'edit',
    status: 'stepfast-workflow_status',
    command: '/stepfast ',
    project: 'COPILOT_PROJECT_DIR',
  },
  payload({ kind, session, cwd, agent, id, prompt, source, cleared, tool, stopActive, trigger }) {
    const isAgents = kind === 'subagent_start' || kind === 'subagent_stop';
    const { path, command, at, answer } = tool ?? {};
    const isRead = tool?.kind === 'read' && tool.whole !== false;
    const text = answer
      ? JSON.stringify(answer)
      : isRead
        ? readFileSync(resolve(cwd, path ?? ''), 'utf8')
        : undefined;
    const payload = {
      // Events in a subagent name it as the session.
      sessionId: agent && !isAgents ? agent.id : session,
      timestamp: id !== undefined && Number.isFinite(Number(id)) ? Number(id) : ++copilotTime,
      cwd,
      ...(agent ? { agentId: agent.id, agentType: agent.type, parentAgentId: session } : {}),
      prompt,
      source: source === 'resume' ? 'resume' : 'new',
      reason: cleared ? 'user_exit' : 'complete',
      trigger,
      stop_hook_active: stopActive,
      ...(tool && {
        toolName: tool.kind === 'stepfast' || tool.kind === 'other' ? tool.name : copilotTools[tool.kind],
        toolArgs: { path, command, at, agent_type: tool.agent, prompt: tool.prompt },
        ...(text === undefined ? {} : { toolResult: { resultType: 'success', textResultForLlm: text } }),
      }),
    };
    return { event: copilotEvents[kind], payload };
  },
  output(stdout) {
    if (stdout === '') return {};
    const answer = JSON.parse(stdout);
    const { additionalContext: context } = answer;
    if (context?.startsWith('For the user: ')) return { say: context };
    return {
      ...(context === undefined ? {} : { context }),
      ...(answer.permissionDecision === 'deny' ? { deny: answer.permissionDecisionReason } : {}),
      ...(answer.decision === 'block' ? { block: answer.reason } : {}),
    };
  },
  shown: ({ stderr, exitCode }) => (exitCode === 2 ? stderr : undefined),
  callId: (session) => callIdOfSession('copilot', session),
};

const tinyEvents: Readonly<Partial<Record<HookInput['kind'], string>>> = {
  session_start: 'hello',
  session_end: 'bye',
  prompt: 'said',
  before_tool: 'will',
  after_tool: 'did',
  before_compact: 'shrinking',
  stop: 'done',
  subagent_start: 'helper-in',
  subagent_stop: 'helper-out',
};

const tinyTools = { read: 'look', write: 'put', shell: 'shell', agent: 'help', schedule: 'later' } as const;

const tiny: HostDialect = {
  host: tinyHost,
  names: {
    edit: 'change',
    status: 'stepfast/workflow_status',
    command: '/stepfast:',
    project: 'TINY_FOLDER',
  },
  payload({ kind, session, cwd, agent, id, prompt, source, cleared, tool, stopActive }) {
    const { path: file, at, answer, agent: role, prompt: words } = tool ?? {};
    const verb =
      tool && (tool.kind === 'stepfast' || tool.kind === 'other' ? tool.name : tinyTools[tool.kind]);
    const payload: TinyPayload = {
      talk: session,
      folder: cwd,
      ...(id === undefined ? {} : { number: Number(id) }),
      ...(prompt === undefined ? {} : { words: prompt }),
      ...(agent ? { helper: { id: agent.id, role: agent.type ?? '' } } : {}),
      ...(source === 'resume' ? { how: 'back' } : cleared ? { how: 'wiped' } : {}),
      ...(stopActive === undefined ? {} : { again: stopActive }),
      ...(verb === undefined
        ? {}
        : {
            using: {
              verb,
              ...(file === undefined ? {} : { file }),
              ...(at === undefined ? {} : { at }),
              ...(answer === undefined ? {} : { result: answer }),
              ...(role === undefined ? {} : { role }),
              ...(words === undefined ? {} : { words }),
            },
          }),
    };
    return { event: tinyEvents[kind] ?? kind, payload };
  },
  output: (stdout) =>
    Object.fromEntries(
      stdout
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => [line.slice(0, line.indexOf(' ')), JSON.parse(line.slice(line.indexOf(' ')))]),
    ),
};

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

const geminiDialect: HostDialect = {
  host: gemini,
  names: {
    edit: 'replace',
    status: 'mcp_stepfast_workflow_status',
    command: '/stepfast:',
    project: 'GEMINI_PROJECT_DIR',
  },
  isPlain: true,
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

export const hostDialects: readonly HostDialect[] = [
  claude,
  codexDialect,
  openCodeDialect,
  copilotDialect,
  geminiDialect,
  tiny,
];
