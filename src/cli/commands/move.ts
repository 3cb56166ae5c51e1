import { type Command, placeOptions, runOption, yesOption } from './command.ts';

const group = 'Move and mend';

export const move: readonly Command[] = [
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
