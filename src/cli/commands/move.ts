import { type Command, projectOptions, runOption, yesOption } from './command.ts';

const group = 'Transfer and repair';

const remoteOption = ['--remote <name>', 'Git remote (default: origin)'] as const;

export const move: readonly Command[] = [
  {
    name: 'push',
    group,
    summary: 'Push runs to a git remote',
    usage: 'stepfast push [<run>] [--remote origin] [--all]',
    about:
      'Shows what will be sent, then pushes the journal, the workflow and the long texts of a run to refs/stepfast/runs/<run>. Never overwrites history on the remote: if both sides diverged, a person chooses with stepfast pull --keep. Push files and branches with git as usual.',
    options: [
      remoteOption,
      ['--all', 'All runs of the project'],
      ['--with-secrets', 'Push even if the run seems to contain a secret'],
      yesOption,
      runOption,
      ...projectOptions,
    ],
    examples: ['stepfast push', 'stepfast push k3f9x2ab --remote backup --yes'],
    load: () => import('../move/push.ts'),
  },
  {
    name: 'pull',
    group,
    summary: 'Pull runs from a git remote',
    usage: 'stepfast pull [<run>] [--remote origin] [--all] [--keep theirs|mine]',
    about:
      'Pulls one run, or all runs that exist locally or are still live. Everything is verified before anything is written. If both sides diverged, nothing changes until a person chooses with --keep and confirms at a terminal. Commands of a pulled workflow run only after: stepfast trust <run>',
    options: [
      remoteOption,
      ['--all', 'Also pull ended runs that do not exist locally'],
      ['--keep <theirs|mine>', 'History to keep if both sides diverged; the other one is set aside'],
      ['--run <run>', 'Run id or its suffix'],
      ...projectOptions,
    ],
    examples: ['stepfast pull', 'stepfast pull k3f9x2ab --keep theirs'],
    load: () => import('../move/pull.ts'),
  },
  {
    name: 'pr',
    group,
    summary: 'Open a pull request with the report of a run',
    usage: 'stepfast pr [<run>] [--base branch] [--title text]',
    about:
      "Shows what will be sent, then pushes the branch of the run's worktree with a plain git push, never forced, and the run itself as stepfast push does. Opens the pull request with your own gh; its text is the report. Without gh on the PATH, prints the commands that open it.",
    options: [
      ['--base <branch>', "Branch to merge into (default: the remote's default branch)"],
      ['--title <text>', 'Title (default: the summary of the run)'],
      remoteOption,
      ['--with-secrets', 'Push even if the run seems to contain a secret'],
      yesOption,
      runOption,
      ...projectOptions,
    ],
    examples: ['stepfast pr', 'stepfast pr k3f9x2ab --base main --yes'],
    load: () => import('../move/pr.ts'),
  },
  {
    name: 'export',
    group,
    summary: 'Export a run to a file',
    usage: 'stepfast export <run> [--output file]',
    about:
      'Writes one JSON document with the workflow, the journal and all long texts, to stdout unless --output is given. It contains what agents and people wrote: review it before you share it.',
    options: [['-o, --output <file>', 'Output file'], ...projectOptions],
    examples: ['stepfast export k3f9x2ab --output run.json'],
    load: () => import('../move/export.ts'),
  },
  {
    name: 'import',
    group,
    summary: 'Import a run from a file',
    usage: 'stepfast import <file> [--workflow <name>]',
    about:
      'Imports a file written by export, the state file that an agent kept without Stepfast (as adopt does), or the workflow-state.json of Lanes with the name of its workflow. An existing run is left unchanged, and a file that does not replay is rejected. Commands of its workflow run only after: stepfast trust <run>',
    options: [['--workflow <name>', 'The workflow of a workflow-state.json'], ...projectOptions],
    examples: ['stepfast import run.json', 'stepfast import workflow-state.json --workflow feature'],
    load: () => import('../move/import.ts'),
  },
  {
    name: 'clean',
    group,
    summary: 'Remove old runs, or worktrees that hold nothing',
    usage: 'stepfast clean [<run>] [--older-than 30d] [--all] [--worktrees] [--dry-run]',
    about:
      'Removes the given run, or all runs that ended more than 30 days ago, after confirmation. Live runs are never removed: cancel them first. With --worktrees, removes no run, but the worktrees that Stepfast created for runs that have ended, if all of their commits are in another branch and they have no changes; the others are listed with what they hold.',
    options: [
      ['--older-than <time>', 'Minimum age since the end of the run: 12h, 30d, 2w (default: 30d)'],
      ['--all', 'All ended runs'],
      ['--worktrees', 'Worktrees instead of runs'],
      ['--dry-run', 'List without removing'],
      yesOption,
      ...projectOptions,
    ],
    examples: ['stepfast clean --dry-run', 'stepfast clean --older-than 7d', 'stepfast clean --worktrees'],
    load: () => import('../move/clean.ts'),
  },
  {
    name: 'repair',
    group,
    summary: 'Check runs for damage and repair them',
    usage: 'stepfast repair [<run>] [--keep history]',
    about:
      'Verifies a run, or all runs, and reports any damage. If two machines wrote to the same run, choose the history with --keep; otherwise the intact part is kept. The old journal is kept as a backup. Anyone can check; repairing requires a person to confirm at a terminal.',
    options: [['--keep <history>', 'History to keep'], runOption, ...projectOptions],
    examples: ['stepfast repair', 'stepfast repair k3f9x2ab --keep 5d0c1e'],
    load: () => import('../move/repair.ts'),
  },
];
