import type { HostTools } from '../../runtime/index.ts';

/** Of 1.0.102; which of them a session has depends on its model and platform. */
const names = [
  'apply_patch',
  'ask_user',
  'bash',
  'create',
  'edit',
  'fetch_copilot_cli_documentation',
  'glob',
  'grep',
  'list_agents',
  'list_bash',
  'powershell',
  'read_agent',
  'read_bash',
  'report_intent',
  'session_store_sql',
  'skill',
  'sql',
  'stop_bash',
  'store_memory',
  'task',
  'update_todo',
  'view',
  'web_fetch',
  'web_search',
  'write_agent',
  'write_bash',
] as const;

type Name = (typeof names)[number];

export const copilotTools: HostTools = {
  title: 'Copilot CLI',
  names,
  renamed: { str_replace_editor: 'edit' } as const satisfies Readonly<Record<string, Name>>,
  same: {
    Agent: 'task',
    AskUserQuestion: 'ask_user',
    MultiEdit: 'edit',
    NotebookEdit: 'edit',
    Read: 'view',
    Task: 'task',
    TodoWrite: 'update_todo',
    WebFetch: 'web_fetch',
    WebSearch: 'web_search',
    Write: 'create',
  } as const satisfies Readonly<Record<string, Name>>,
  shell: 'bash' satisfies Name,
  own: /^stepfast-/,
  always: [],
};
