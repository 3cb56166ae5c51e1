import { type Command, placeOptions, runOption, yesOption } from './command.ts';

const group = 'Move and mend';

const remoteOption = ['--remote <name>', 'The git remote; origin by default'] as const;

export const move: readonly Command[] = [
  {
    name: 'push',
    group,
    summary: 'Send a run to your git remote',
    usage: 'stepfast push [<run>] [--remote origin] [--all]',
    about:
      'Sends the journal, the workflow and the long texts of a run, or of the only live one, as refs/stepfast/runs/<run>, after showing what leaves this machine. What the remote has is never overwritten: where both sides went on, a person chooses with stepfast pull --keep. Files and branches travel by git as ever.',
    options: [
      remoteOption,
      ['--all', 'Every run of the project'],
      ['--with-secrets', 'Send it though something in it looks like a secret'],
      yesOption,
      runOption,
      ...placeOptions,
    ],
    examples: ['stepfast push', 'stepfast push k3f9x2ab --remote backup --yes'],
    load: () => import('../move/push.ts'),
  },
  {
    name: 'pull',
    group,
    summary: 'Bring runs from your git remote',
    usage: 'stepfast pull [<run>] [--remote origin] [--all] [--keep theirs|mine]',
    about:
      'Brings a run, or every one that is here already or still goes on. All of it is verified before anything is written, and a run here only ever grows: where both sides went on, nothing is changed until a person at a terminal chooses with --keep and types it. The commands of its workflow run here only after: stepfast trust <run>',
    options: [
      remoteOption,
      ['--all', 'Also runs that have ended and are not here'],
      ['--keep <theirs|mine>', 'Which history holds where both sides went on; the other is set aside'],
      ['--run <run>', 'The run, by its id or the end of it'],
      ...placeOptions,
    ],
    examples: ['stepfast pull', 'stepfast pull k3f9x2ab --keep theirs'],
    load: () => import('../move/pull.ts'),
  },
  {
    name: 'export',
    group,
    summary: 'Write a run into one file',
    usage: 'stepfast export <run> [--output file]',
    about:
      'One JSON document with the workflow, the journal and every long text; without --output it is printed. It holds what agents and people said: look at it before you give it away.',
    options: [['-o, --output <file>', 'Where to write it'], ...placeOptions],
    examples: ['stepfast export k3f9x2ab --output run.json'],
    load: () => import('../move/export.ts'),
  },
  {
    name: 'import',
    group,
    summary: 'Take in a run from a file',
    usage: 'stepfast import <file>',
    about:
      'Takes in what export wrote. A run that is here already is left alone, and a file that does not replay is refused. The commands of its workflow run only after: stepfast trust <run>',
    options: placeOptions,
    examples: ['stepfast import run.json'],
    load: () => import('../move/import.ts'),
  },
  {
    name: 'clean',
    group,
    summary: 'Remove runs that ended long ago',
    usage: 'stepfast clean [<run>] [--older-than 30d] [--all] [--dry-run]',
    about:
      'Removes the run that is named, or those that ended more than 30 days ago, after asking. A live run is never removed: cancel it first.',
    options: [
      ['--older-than <time>', 'Ended longer ago than this: 12h, 30d, 2w'],
      ['--all', 'Every run that has ended'],
      ['--dry-run', 'Only show them'],
      yesOption,
      ...placeOptions,
    ],
    examples: ['stepfast clean --dry-run', 'stepfast clean --older-than 7d'],
    load: () => import('../move/clean.ts'),
  },
  {
    name: 'repair',
    group,
    summary: 'Look for damage in runs and mend it',
    usage: 'stepfast repair [<run>] [--keep history]',
    about:
      "Checks every byte of a run, or of all runs, and says what is wrong. Where two machines wrote on, --keep says whose history holds; else what is whole is kept. The old journal stays beside the new one. Looking is anybody's; mending needs a person at a terminal and a word that is typed.",
    options: [['--keep <history>', 'The history to keep'], runOption, ...placeOptions],
    examples: ['stepfast repair', 'stepfast repair k3f9x2ab --keep 5d0c1e'],
    load: () => import('../move/repair.ts'),
  },
];
