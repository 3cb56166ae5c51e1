import type { HostTools } from '../../runtime/index.ts';

/** Of 0.61.0. */
const names = [
  'activate_skill',
  'ask_user',
  'enter_plan_mode',
  'exit_plan_mode',
  'glob',
  'google_web_search',
  'grep_search',
  'invoke_agent',
  'list_background_processes',
  'list_directory',
  'list_mcp_resources',
  'read_background_output',
  'read_file',
  'read_many_files',
  'read_mcp_resource',
  'replace',
  'run_shell_command',
  'save_memory',
  'update_topic',
  'web_fetch',
  'write_file',
  'write_todos',
] as const;

type Name = (typeof names)[number];

export const geminiTools: HostTools = {
  title: 'Gemini CLI',
  names,
  renamed: { search_file_content: 'grep_search' } as const satisfies Readonly<Record<string, Name>>,
  same: {
    Agent: 'invoke_agent',
    AskUserQuestion: 'ask_user',
    Bash: 'run_shell_command',
    Edit: 'replace',
    Glob: 'glob',
    Grep: 'grep_search',
    Read: 'read_file',
    Skill: 'activate_skill',
    Task: 'invoke_agent',
    TodoWrite: 'write_todos',
    WebFetch: 'web_fetch',
    WebSearch: 'google_web_search',
    Write: 'write_file',
  } as const satisfies Readonly<Record<string, Name>>,
  shell: 'run_shell_command' satisfies Name,
  own: /^mcp_stepfast_/,
  always: ['update_topic'] satisfies Name[],
};

/** Stepfast's own, as its server names them. */
export const ownTools = [
  'workflow_start',
  'workflow_status',
  'workflow_advance',
  'workflow_set_tasks',
  'workflow_claim',
  'workflow_context',
  'workflow_note',
  'update_todo_list',
] as const;
