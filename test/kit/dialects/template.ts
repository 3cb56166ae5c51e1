import { template } from '../../../src/hosts/template/index.ts';
import type { HookInput, ToolKind } from '../../../src/runtime/index.ts';
import type { HostDialect } from './dialect.ts';

const events: Readonly<Record<HookInput['kind'], string>> = {
  session_start: 'session.opened',
  session_end: 'session.closed',
  prompt: 'prompt.sent',
  before_tool: 'tool.starting',
  after_tool: 'tool.finished',
  before_compact: 'context.compacting',
  stop: 'turn.ending',
  subagent_start: 'agent.started',
  subagent_stop: 'agent.ended',
  wake: 'turn.ending',
};

/** Of the other kinds the suite gives the host's own name. */
const tools: Readonly<Partial<Record<ToolKind, string>>> = {
  read: 'read_file',
  write: 'write_file',
  shell: 'shell',
  agent: 'start_agent',
};

export const templateDialect: HostDialect = {
  host: template,
  names: {
    edit: 'edit_file',
    status: 'stepfast.workflow_status',
    command: '/stepfast ',
    project: 'TEMPLATE_FOLDER',
  },
  payload({ kind, session, cwd, agent, id, prompt, source, cleared, tool, stopActive, trigger }) {
    const used = tool && {
      tool: tools[tool.kind] ?? tool.name,
      call: id,
      input: { path: tool.path, command: tool.command, at: tool.at, role: tool.agent, task: tool.prompt },
      output: tool.answer && JSON.stringify(tool.answer),
    };
    const payload = {
      program: 'template',
      conversation: session,
      folder: cwd,
      log: '/nowhere/log.jsonl',
      turn: id,
      agent: agent && { id: agent.id, role: agent.type },
      text: prompt,
      how:
        source === 'resume' ? 'resumed' : cleared ? 'cleared' : trigger === 'auto' ? 'automatic' : undefined,
      again: stopActive,
      ...used,
    };
    return { event: events[kind], payload };
  },
  output(stdout) {
    if (stdout === '') return {};
    const { inject, deny, go_on, keep, show } = JSON.parse(stdout);
    return {
      ...(inject === undefined ? {} : { context: inject }),
      ...(deny === undefined ? {} : { deny }),
      ...(go_on === undefined ? {} : { block: go_on }),
      ...(keep === undefined ? {} : { survive: keep }),
      ...(show === undefined ? {} : { say: show }),
    };
  },
};
