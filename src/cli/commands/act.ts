import { atOption, type Command, projectOptions, runOption, yesOption } from './command.ts';

const group = 'Work';

export const work: readonly Command[] = [
  {
    name: 'go',
    group,
    summary: 'Run a task and verify it',
    usage: 'stepfast go <task>',
    about:
      "Starts the workflow 'go' with a task in your own words; - reads it from stdin. A project's own go takes precedence over the bundled one. Running it again with the same task resumes the run.",
    options: projectOptions,
    examples: ['stepfast go "fix the login bug"'],
    load: () => import('../act/go.ts'),
  },
  {
    name: 'start',
    group,
    summary: 'Start a run of a workflow',
    usage: 'stepfast start <workflow> [--summary text] [--input name=value]...',
    about:
      'Starts a run and prints its first position. Running it again with the same arguments resumes the run; --run resumes a given run.',
    options: [
      ['-s, --summary <text>', 'One-line summary of the run'],
      ['-i, --input <name=value>', 'Value of an input; repeatable'],
      runOption,
      ...projectOptions,
    ],
    examples: [
      'stepfast start feature --summary "Dark mode"',
      'stepfast start bugfix --input bug="It crashes on save"',
    ],
    load: () => import('../act/start.ts'),
  },
  {
    name: 'adopt',
    group,
    summary: 'Turn work that was started without Stepfast into a run',
    usage: 'stepfast adopt [<file>] [--force]',
    about:
      'Finds workflow notes: untracked/workflow-state/*/state-*.json, CLAUDE.local.md with "WORKFLOW STATE", "workflow:" or "Phase:", or CLAUDE/Plan/*/PLAN.md with "🔄 In Progress". The run gets its name, its phase and the files to read (@path) from the notes. Run it again to update the run.',
    options: [['--force', 'Adopt even if another run is live in this worktree'], ...projectOptions],
    examples: ['stepfast adopt', 'stepfast adopt CLAUDE/Plan/001-user-auth/PLAN.md'],
    load: () => import('../act/adopt.ts'),
  },
  {
    name: 'advance',
    group,
    summary: 'Report a position as done and run its gates',
    usage: 'stepfast advance [<output>] [--at handle] [--output text | --output-file file]',
    about:
      'Runs the gates of the position in a separate process and completes it if they pass. At a terminal it shows their progress, and Ctrl-C leaves them running. Elsewhere it waits up to 45 seconds; repeat the same call to keep waiting.',
    options: [
      atOption,
      ['-o, --output <text>', 'What was done; - reads stdin'],
      ['--output-file <file>', 'Read the output from a file'],
      ['--wait <seconds>', 'How long to wait for the gates'],
      runOption,
      ...projectOptions,
    ],
    examples: [
      'stepfast advance --at k3f9x2ab:plan#1 --output "The plan is in PLAN.md"',
      'git log -1 | stepfast advance -',
    ],
    load: () => import('../act/advance.ts'),
  },
  {
    name: 'fail',
    group,
    summary: 'Report that a position cannot be done, and why',
    usage: 'stepfast fail <reason> [--at handle]',
    about: 'The workflow defines what happens next: a retry, the next task, or the end of the run.',
    options: [atOption, runOption, ...projectOptions],
    examples: ['stepfast fail "The API has no such field"'],
    load: () => import('../act/fail.ts'),
  },
  {
    name: 'tasks',
    group,
    summary: 'Set the tasks of a loop',
    usage: 'stepfast tasks [<loop>] [<title>... | json | -] [--from file] [--drop task --reason why]',
    about:
      'Takes titles, a JSON list of { id, title, description?, depends_on? }, or a Markdown checklist in the format of spec-kit or OpenSpec: ticked items are skipped, and where [P] is used, a task without it waits for the tasks before it. A new list replaces the tasks that have not started. A list that omits an unfinished task is refused: only a person can remove it, with --drop. An empty list asks a person to let the loop be skipped.',
    options: [
      ['--from <file>', 'A Markdown checklist: - [ ] T001 [P] Title, - [ ] 1.1 Title'],
      ['--drop <task>', 'Remove a task permanently; requires a person'],
      ['--reason <text>', 'Why it is removed; shown in the status'],
      yesOption,
      runOption,
      ...projectOptions,
    ],
    examples: [
      'stepfast tasks build "Parse the file" "Print the result"',
      'stepfast tasks build --from specs/001-albums/tasks.md',
      'stepfast tasks --drop task-3 --reason "Moved to the next release"',
    ],
    load: () => import('../act/tasks.ts'),
  },
  {
    name: 'claim',
    group,
    summary: 'Claim a task when several agents work in parallel',
    usage: 'stepfast claim [<task>] [--as name]',
    about:
      'Claims a ready task, by default the first one, and prints its handle. The claim needs a name: --as or STEPFAST_SESSION. At a terminal, the default is your user name and terminal.',
    options: [['--as <name>', 'Name of the holder'], runOption, ...projectOptions],
    examples: ['stepfast claim --as worker-2', 'stepfast claim task-3'],
    load: () => import('../act/claim.ts'),
  },
  {
    name: 'ask',
    group,
    summary: 'Ask a person a question; the position waits',
    usage: 'stepfast ask <question> [--at handle]',
    about: 'The position waits until a person runs: stepfast answer',
    options: [atOption, runOption, ...projectOptions],
    examples: ['stepfast ask "Should old links keep working?"'],
    load: () => import('../act/ask.ts'),
  },
  {
    name: 'note',
    group,
    summary: 'Save a note for every briefing',
    usage: 'stepfast note <kind> <text> [--key key]',
    about:
      'Kinds: decision, rejection, correction, reminder, variable, artefact, reading. The note is repeated word for word in every briefing. It replaces a note with the same kind and key.',
    options: [
      ['--key <key>', 'Replace the note with this kind and key'],
      atOption,
      runOption,
      ...projectOptions,
    ],
    examples: [
      'stepfast note decision "Dates are UTC" --key dates',
      'stepfast note artefact docs/plan.md --key plan_path',
    ],
    load: () => import('../act/note.ts'),
  },
  {
    name: 'todo',
    group,
    summary: 'Show or replace the to-do list',
    usage: 'stepfast todo [<text> | -]',
    about: 'Prints the list, or replaces it with the given text; - reads stdin.',
    options: [runOption, ...projectOptions],
    examples: ['stepfast todo', 'stepfast todo - < TODO.md'],
    load: () => import('../act/todo.ts'),
  },
  {
    name: 'hold',
    group,
    summary: 'Keep sessions from stopping until a command passes',
    usage: 'stepfast hold [<command>] [--off]',
    about:
      "For work without a workflow. When an agent's session in this worktree is about to stop, Stepfast runs the command. If it fails, the session continues with the end of its output, once per turn and at most three times. A command that takes more than 45 seconds does not block the stop. The hold expires after 24 hours. Without a command, shows the current hold. Only a person can set or remove a hold, at a terminal and not from an agent's shell.",
    options: [['--off', 'Remove the hold'], ...projectOptions],
    examples: ['stepfast hold "npm test"', 'stepfast hold', 'stepfast hold --off'],
    load: () => import('../act/hold.ts'),
  },
];
