import { atOption, type Command, json, type Option, projectOptions, runOption } from './command.ts';

const group = 'Look';

const briefingOptions: readonly Option[] = [
  ['--run-id <run>', 'Run id or its suffix (default: the only live run)'],
  ['--artifacts <ids>', 'Print only these critical artifacts, in full'],
  ['--force', 'Include content that the session already received'],
  [
    '--section <name>',
    'Print one section in full: status, instructions, notes, done, reading, artifacts, ...',
  ],
  ['--budget <tokens>', 'Token budget, at least 2500 (default: set by the workflow)'],
  ['--characters <number>', 'Character budget, at least 9000'],
  ['--markdown', 'Use Markdown headings'],
  ['--explain', 'Show how the tokens are used'],
  ['-o, --output <file>', 'With --explain: write an SVG chart to this file'],
  atOption,
  runOption,
  ...projectOptions,
];

export const look: readonly Command[] = [
  {
    name: 'status',
    group,
    summary: 'Show the progress of a run and the next action',
    usage: 'stepfast status [<run>] [--wait]',
    about:
      'Shows the progress of the run, the evidence for completed steps, the next action and what the run is waiting for. Agents also get the instructions. For a person it is read-only. With several live runs, it lists them.',
    options: [
      ['-w, --wait', 'Wait for running gates; exit status 4 if they are still running'],
      ['--as <name>', 'Show the position of the task held under this name'],
      atOption,
      runOption,
      ...projectOptions,
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
    options: [['-a, --all', 'Include ended runs'], ...projectOptions],
    examples: ['stepfast runs', 'stepfast runs --all'],
    load: () => import('../look/runs.ts'),
  },
  {
    name: 'log',
    group,
    summary: 'Show the history of a run',
    usage: 'stepfast log [<run>]',
    about:
      'Prints the journal of a run with times and actors. Agent claims that no gate has checked are marked unverified.',
    options: [runOption, ...projectOptions],
    examples: ['stepfast log', 'stepfast log k3f9x2ab --json'],
    load: () => import('../look/log.ts'),
  },
  {
    name: 'report',
    group,
    summary: 'Report what a run did and what is proven',
    usage: 'stepfast report [<run>] [--format markdown|json|html] [--output file]',
    about:
      'What was asked and how it ended; for each step and task what was done and its evidence, with the tree that it holds for; false reports of completion that gates caught; decisions of people, questions, failures, context boundaries, tokens, cost and time. Markdown reads well in a pull request; HTML is one file with the page of the dashboard, to attach or publish. A figure that is not known is left out.',
    options: [
      ['--format <markdown|json|html>', 'Format (default: markdown, or by the name of the output file)'],
      ['-o, --output <file>', 'Output file'],
      runOption,
      ...projectOptions,
    ],
    examples: ['stepfast report', 'stepfast report k3f9x2ab --output report.html'],
    load: () => import('../look/report.ts'),
  },
  {
    name: 'watch',
    group,
    summary: 'Watch all live runs and what they need from you',
    usage: 'stepfast watch [<run>...]',
    about:
      'Shows each live run with what it does now, and first what waits for you, until Ctrl-C. With run ids it shows these and ends when all of them have ended. In a pipe it prints a line for each change; with --json, the run as a line of JSON. It only reads.',
    options: projectOptions,
    examples: ['stepfast watch', 'stepfast watch k3f9x2ab', 'stepfast watch --json | jq .now'],
    load: () => import('../look/watch.ts'),
  },
  {
    name: 'ui',
    group,
    summary: 'Open the dashboard of this project in a browser',
    usage: 'stepfast ui [--port <number>] [--no-open]',
    about:
      'Serves pages with all runs of this project to browsers on this machine until Ctrl-C: what needs you, what each run does, its evidence with the logs, its sessions, and what is kept for the next one. They change by themselves. A link works once; Enter prints another. You can decide there if you start it in your own terminal; started by an agent or without a terminal, the pages only read.',
    options: [
      ['--port <number>', 'Port to listen on (default: any that is free)'],
      ['--no-open', 'Only print the link'],
      ...projectOptions.filter((option) => option !== json),
    ],
    examples: ['stepfast ui', 'stepfast ui --port 7438 --no-open'],
    load: () => import('../ui/ui.ts'),
  },
  {
    name: 'sessions',
    group,
    summary: 'List the sessions that worked on a run',
    usage: 'stepfast sessions [<run>]',
    about:
      'Shows each session with its host, machine, commit, start and end time, and the phases it completed.',
    options: [runOption, ...projectOptions],
    examples: ['stepfast sessions', 'stepfast sessions k3f9x2ab --json'],
    load: () => import('../look/sessions.ts'),
  },
  {
    name: 'prime',
    group,
    summary: 'Print the briefing for an agent',
    usage: 'stepfast prime [<run>] [--artifacts a,b] [--force]',
    about:
      'Loads the critical artifacts of a run and prints its briefing: position, next action, instructions, decisions, completed work with its evidence, and required reading. The briefing fits a token budget; anything left out is listed with the command that prints it.',
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
    summary: 'Continue a run in another session or on another machine',
    usage: 'stepfast resume [<run>]',
    about:
      'Like prime, for a new session. Also shows who worked on the run and where, and what differs here: the commit, missing files, evidence from another tree, changed artifacts.',
    options: briefingOptions,
    examples: ['stepfast resume', 'stepfast resume k3f9x2ab'],
    load: () => import('../prime/resume.ts'),
  },
  {
    name: 'stats',
    group,
    summary: 'Show what Stepfast caught in this project',
    usage: 'stepfast stats',
    about:
      'Counts from the journals and the hook logs: false claims of completion, attempts to skip steps, survived compactions, delivered and repaired briefings, blocked stops, denied tools, and decisions by people.',
    options: projectOptions,
    examples: ['stepfast stats', 'stepfast stats --json'],
    load: () => import('../look/stats.ts'),
  },
  {
    name: 'demo',
    group,
    summary: 'Show what Stepfast does in 20 seconds',
    usage: 'stepfast demo [--fast]',
    about:
      'Plays a scripted agent that claims to be done, skips a step and forgets its context, on a small project. The engine, gates, journal and hooks are real, and so is every response shown. Works offline, in a temporary directory that is removed afterwards.',
    options: [['--fast', 'Skip the pauses']],
    examples: ['npx stepfast demo', 'stepfast demo --fast'],
    load: () => import('../demo/demo.ts'),
  },
  {
    name: 'statusline',
    group,
    summary: "Print the run's status for Claude Code's status line",
    usage: 'stepfast statusline',
    about:
      "Reads Claude Code's status line input and prints one line: workflow and phase, what the run is waiting for, the result and age of the last gate, and context usage. Prints nothing without a live run, and never fails. An existing status line script can call it too.",
    options: [],
    examples: ['stepfast statusline < session.json'],
    load: () => import('../statusline/statusline.ts'),
  },
];
