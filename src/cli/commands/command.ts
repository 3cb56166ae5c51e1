import type { Io } from '../io.ts';

export const groups = [
  'Work',
  'Unattended',
  'Decide',
  'Look',
  'Workflows',
  'Set up',
  'Transfer and repair',
  'Team server',
] as const;

export interface Command {
  name: string;
  group: (typeof groups)[number];
  summary: string;
  usage: string;
  /** Description in the command's own help. */
  about: string;
  options: readonly Option[];
  examples: readonly string[];
  /** Internal: omitted from help and completions. */
  hidden?: true;
  /** Loads the implementation on demand, to keep startup fast. */
  load(): Promise<{ run(args: readonly string[], io: Io): number | Promise<number>; options?: object }>;
}

export type Option = readonly [flag: string, meaning: string];

export const json: Option = ['--json', 'Print one JSON document'];

/** Options shared by the commands that work on a project. */
export const projectOptions: readonly Option[] = [
  json,
  ['--worktree <directory>', 'Worktree to use (default: the current directory)'],
  ['--repo-root <directory>', 'Main worktree, where runs are stored'],
];

export const runOption: Option = ['--run <run>', 'Run id or its suffix (default: the only live run)'];
export const atOption: Option = ['--at <handle>', 'Position handle from the last response'];
export const yesOption: Option = ['-y, --yes', 'Skip confirmation'];
