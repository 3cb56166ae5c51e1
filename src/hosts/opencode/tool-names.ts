import type { HostTools } from '../../runtime/index.ts';

/** As of 1.18.33; which of them a session has depends on its settings and model. */
const names = [
  'apply_patch',
  'bash',
  'edit',
  'glob',
  'grep',
  'list',
  'list_mcp_resource_templates',
  'list_mcp_resources',
  'lsp',
  'plan_enter',
  'plan_exit',
  'question',
  'read',
  'read_mcp_resource',
  'skill',
  'task',
  'todoread',
  'todowrite',
  'webfetch',
  'websearch',
  'write',
] as const;

type Name = (typeof names)[number];

export const openCodeTools: HostTools = {
  title: 'OpenCode',
  names,
  renamed: { multiedit: 'edit', patch: 'apply_patch' } as const satisfies Readonly<Record<string, Name>>,
  same: {
    Agent: 'task',
    AskUserQuestion: 'question',
    NotebookEdit: 'edit',
    TaskCreate: 'todowrite',
  } as const satisfies Readonly<Record<string, Name>>,
  shell: 'bash' satisfies Name,
  own: /^stepfast(?:_|$)/,
  always: [],
};
