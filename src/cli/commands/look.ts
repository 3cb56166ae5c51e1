import { atOption, type Command, placeOptions, runOption } from './command.ts';

const group = 'Look';

export const look: readonly Command[] = [
  {
    name: 'status',
    group,
    summary: 'Show where a run stands and what comes next',
    usage: 'stepfast status [<run>] [--wait]',
    about:
      'Shows how far the run is, what is done on what evidence, what is next and who waits for whom. For an agent it tells the instructions; what a person reads changes nothing. With several live runs it lists them.',
    options: [
      ['-w, --wait', 'Wait for gates that are running; exit status 4 where they still are'],
      ['--as <name>', 'The position of the task that this name holds'],
      atOption,
      runOption,
      ...placeOptions,
    ],
    examples: ['stepfast status', 'stepfast status k3f9x2ab --json'],
    load: () => import('../look/status.ts'),
  },
  {
    name: 'runs',
    group,
    summary: 'List the runs of this project',
    usage: 'stepfast runs [--all]',
    about: 'Lists the live runs, newest first.',
    options: [['-a, --all', 'Also those that have ended'], ...placeOptions],
    examples: ['stepfast runs', 'stepfast runs --all'],
    load: () => import('../look/runs.ts'),
  },
  {
    name: 'log',
    group,
    summary: 'Tell what happened: who, when, what',
    usage: 'stepfast log [<run>]',
    about:
      'The journal of a run for people. What an agent said and no gate has checked is marked unverified.',
    options: [runOption, ...placeOptions],
    examples: ['stepfast log', 'stepfast log k3f9x2ab --json'],
    load: () => import('../look/log.ts'),
  },
];
