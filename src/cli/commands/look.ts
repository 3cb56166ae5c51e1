import { atOption, type Command, type Option, placeOptions, runOption } from './command.ts';

const group = 'Look';

const briefingOptions: readonly Option[] = [
  ['--run-id <run>', 'The run, by its id or the end of it; the only live one by default'],
  ['--artifacts <ids>', 'Only these critical artifacts, in full'],
  ['--force', 'Also what the session was given before'],
  ['--section <name>', 'One section in full: status, instructions, notes, done, reading, artifacts, ...'],
  ['--budget <tokens>', 'Estimated tokens, at least 2500; as the workflow says by default'],
  ['--characters <number>', 'At least 9000'],
  ['--markdown', 'With Markdown headings'],
  ['--explain', 'Show where the tokens go'],
  ['-o, --output <file>', 'With --explain: draw it into this .svg'],
  atOption,
  runOption,
  ...placeOptions,
];

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
  {
    name: 'sessions',
    group,
    summary: 'Tell which sessions worked on a run, where and when',
    usage: 'stepfast sessions [<run>]',
    about:
      'Every session with its host, machine and commit, when it began and ended, and the phases that were completed in it.',
    options: [runOption, ...placeOptions],
    examples: ['stepfast sessions', 'stepfast sessions k3f9x2ab --json'],
    load: () => import('../look/sessions.ts'),
  },
  {
    name: 'prime',
    group,
    summary: 'Tell an agent all that it must know',
    usage: 'stepfast prime [<run>] [--artifacts a,b] [--force]',
    about:
      'Loads the critical artifacts of a run and prints its briefing: where it stands, what is next, the instructions, what was decided, what is done on what evidence, what must be read. Sized to a budget; what does not fit is named with the way to it. With --explain it shows where the tokens go.',
    options: briefingOptions,
    examples: [
      'stepfast prime',
      'stepfast prime --artifacts plan,specification',
      'stepfast prime --section notes',
      'stepfast prime --explain --output briefing.svg',
    ],
    load: () => import('../prime/prime.ts'),
  },
  {
    name: 'resume',
    group,
    summary: 'Go on with a run in another session or on another machine',
    usage: 'stepfast resume [<run>]',
    about:
      'What prime does, for somebody who was not there before: also tells who worked on the run and where, and what is not here as it was: the commit, missing files, evidence of another tree, reading that changed.',
    options: briefingOptions,
    examples: ['stepfast resume', 'stepfast resume k3f9x2ab'],
    load: () => import('../prime/resume.ts'),
  },
  {
    name: 'stats',
    group,
    summary: 'Tell what Stepfast was good for in this project',
    usage: 'stepfast stats',
    about:
      'Counts, from the journals and from what hooks wrote down: "done" that was not, steps that somebody wanted to skip, compactions survived, briefings that arrived or had to be repaired, stops held, tools denied, and what people decided.',
    options: placeOptions,
    examples: ['stepfast stats', 'stepfast stats --json'],
    load: () => import('../look/stats.ts'),
  },
  {
    name: 'demo',
    group,
    summary: 'Show in 20 seconds what Stepfast is for',
    usage: 'stepfast demo [--fast]',
    about:
      'A small project, a workflow and an agent that says it is done, skips a step and forgets. The agent is made up; the engine, the gates, the journal and the hooks are the real ones, and every answer shown is theirs. Works offline, in a temporary folder that is removed.',
    options: [['--fast', 'Without pauses']],
    examples: ['npx stepfast demo', 'stepfast demo --fast'],
    load: () => import('../demo/demo.ts'),
  },
  {
    name: 'statusline',
    group,
    summary: "Print a line about the run for Claude Code's status line",
    usage: 'stepfast statusline',
    about:
      "Reads what Claude Code sends to a status line and prints one line: the run's workflow and phase, what it waits for, the last gate's result and age, and how full the context is. Prints nothing where no run is live, and never fails. An existing status line can call it too.",
    options: [],
    examples: ['stepfast statusline < session.json'],
    load: () => import('../statusline/statusline.ts'),
  },
];
