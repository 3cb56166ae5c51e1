import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { callIdOfSession } from '../../../src/hosts/call-id.ts';
import { copilot } from '../../../src/hosts/copilot/index.ts';
import type { HookInput } from '../../../src/runtime/index.ts';
import type { HostDialect } from './dialect.ts';

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

export const copilotDialect: HostDialect = {
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
