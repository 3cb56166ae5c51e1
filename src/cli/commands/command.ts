import type { Io } from '../io.ts';

export const groups = [
  'Work',
  'Decide',
  'Look',
  'Workflows',
  'Set up',
  'Move and mend',
  'Team server',
] as const;

export interface Command {
  name: string;
  group: (typeof groups)[number];
  summary: string;
  usage: string;
  /** What it does, for its own help. */
  about: string;
  options: readonly Option[];
  examples: readonly string[];
  /** For this program itself: neither in the help nor completed. */
  hidden?: true;
  /** Loaded only when the command runs: start-up pays for nothing else. */
  load(): Promise<{ run(args: readonly string[], io: Io): number | Promise<number>; options?: object }>;
}

export type Option = readonly [flag: string, meaning: string];

export const json: Option = ['--json', 'Print one JSON document'];

/** What every command about a project takes. */
export const placeOptions: readonly Option[] = [
  json,
  ['--worktree <directory>', 'The worktree to work in, instead of this directory'],
  ['--repo-root <directory>', 'The main worktree, where runs are kept'],
];

export const runOption: Option = [
  '--run <run>',
  'The run, by its id or the end of it; the only live one by default',
];
export const atOption: Option = ['--at <handle>', 'The position, as the last answer named it'];
export const yesOption: Option = ['-y, --yes', 'Do not ask'];
