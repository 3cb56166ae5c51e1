import type { HostTools } from '../../runtime/index.ts';

/** As hooks name them, of 0.169.0. */
const names = [
  'apply_patch',
  'Bash',
  'close_agent',
  'list_agents',
  'send_message',
  'spawn_agent',
  'update_plan',
  'view_image',
  'wait_agent',
  'web_search',
] as const;

type Name = (typeof names)[number];

export const codexTools: HostTools = {
  title: 'Codex',
  names,
  renamed: {
    exec_command: 'Bash',
    local_shell: 'Bash',
    shell: 'Bash',
    shell_command: 'Bash',
    write_stdin: 'Bash',
  } as const satisfies Readonly<Record<string, Name>>,
  same: {
    Agent: 'spawn_agent',
    Edit: 'apply_patch',
    NotebookEdit: 'apply_patch',
    Task: 'spawn_agent',
    TodoWrite: 'update_plan',
    WebSearch: 'web_search',
    Write: 'apply_patch',
  } as const satisfies Readonly<Record<string, Name>>,
  shell: 'Bash' satisfies Name,
  own: /^mcp__stepfast(?:__|$)/,
  always: [],
};
