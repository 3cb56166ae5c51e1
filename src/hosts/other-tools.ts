/**
 * Tools of agent programs without an adapter here: a workflow that is also used there may name them. Names that differ
 * from those of a host here only in their case are left out.
 */
const toolsOf: Readonly<Record<string, readonly string[]>> = {
  Codex: [
    'apply_patch',
    'exec_command',
    'grep_files',
    'list_dir',
    'local_shell',
    'read_file',
    'shell',
    'shell_command',
    'spawn_agent',
    'update_plan',
    'view_image',
    'web_search',
    'write_stdin',
  ],
  Cursor: [
    'codebase_search',
    'delete_file',
    'edit_file',
    'file_search',
    'grep_search',
    'list_dir',
    'read_file',
    'run_terminal_cmd',
    'search_replace',
    'web_search',
  ],
  Copilot: ['create', 'execute', 'report_intent', 'search', 'shell', 'str_replace_editor', 'view', 'web'],
  opencode: ['apply_patch', 'list', 'multiedit', 'patch', 'question', 'task', 'todoread'],
};

/** The programs that have a tool of this name. */
export const othersWithTool = (name: string): string[] =>
  Object.entries(toolsOf).flatMap(([program, names]) => (names.includes(name) ? [program] : []));
