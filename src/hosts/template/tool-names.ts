import type { HostTools } from '../../runtime/index.ts';

/** Name the version that you recorded. */
const names = ['edit_file', 'read_file', 'shell', 'start_agent', 'write_file'] as const;

type Name = (typeof names)[number];

export const templateTools: HostTools = {
  title: 'Template',
  names,
  renamed: {},
  same: {
    Agent: 'start_agent',
    Bash: 'shell',
    Edit: 'edit_file',
    Read: 'read_file',
    Write: 'write_file',
  } as const satisfies Readonly<Record<string, Name>>,
  shell: 'shell' satisfies Name,
  own: /^stepfast\./,
  always: [],
};
