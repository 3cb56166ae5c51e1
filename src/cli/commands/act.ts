import { atOption, type Command, placeOptions, runOption, yesOption } from './command.ts';

const group = 'Work';

export const work: readonly Command[] = [
  {
    name: 'go',
    group,
    summary: 'Do a task, then verify it',
    usage: 'stepfast go <task>',
    about:
      "Starts the workflow 'go' with a task in your own words; - reads it from what comes in. The project's own go comes before the bundled one. The same words again go on with the same run.",
    options: placeOptions,
    examples: ['stepfast go "fix the login bug"'],
    load: () => import('../act/go.ts'),
  },
  {
    name: 'start',
    group,
    summary: 'Start a run of a workflow',
    usage: 'stepfast start <workflow> [--summary text] [--input name=value]...',
    about:
      'Starts a run and answers with its first position. The same words again go on with the run that is there; --run goes on with that one.',
    options: [
      ['-s, --summary <text>', 'What the run is about, in a line'],
      ['-i, --input <name=value>', 'A value for an input; may be given several times'],
      runOption,
      ...placeOptions,
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
    summary: 'Make a run of work that is under way without Stepfast',
    usage: 'stepfast adopt [<file>] [--force]',
    about:
      'Finds workflows that are kept in notes: CLAUDE.local.md with "WORKFLOW STATE", "workflow:" and "Phase:", or CLAUDE/Plan/*/PLAN.md with "🔄 In Progress". The run takes its name, its phase and the files to read (@path) from there; called again, it is brought up to date.',
    options: [['--force', 'Also beside a run that is live in this worktree'], ...placeOptions],
    examples: ['stepfast adopt', 'stepfast adopt CLAUDE/Plan/001-user-auth/PLAN.md'],
    load: () => import('../act/adopt.ts'),
  },
  {
    name: 'advance',
    group,
    summary: 'Say that a position is done; its gates decide',
    usage: 'stepfast advance [<output>] [--at handle] [--output text | --output-file file]',
    about:
      'Completes the position with what was done. Its gates run first, in a process of their own: at a terminal their output is shown, and Ctrl-C leaves them running; elsewhere the call waits 45 seconds, then the same call again attaches.',
    options: [
      atOption,
      ['-o, --output <text>', 'What was done; - for what comes in'],
      ['--output-file <file>', 'The same, from a file'],
      ['--wait <seconds>', 'How long to wait for gates'],
      runOption,
      ...placeOptions,
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
    summary: 'Say that a position cannot be done, and why',
    usage: 'stepfast fail <reason> [--at handle]',
    about: "What follows is the workflow's to say: another try, the next task, or the end of the run.",
    options: [atOption, runOption, ...placeOptions],
    examples: ['stepfast fail "The API has no such field"'],
    load: () => import('../act/fail.ts'),
  },
  {
    name: 'tasks',
    group,
    summary: 'Give a loop its tasks',
    usage: 'stepfast tasks [<loop>] [<title>... | json | -] [--from file] [--drop task --reason why]',
    about:
      'Titles, a JSON list of { id, title, description?, depends_on? }, or a Markdown checklist as spec-kit and OpenSpec write it: ticked items are left out, and where [P] is used, a task without it waits for those before it. Given again, it replaces what was not started; a list that leaves out an unfinished task is refused, and only a person removes one, with --drop. An empty list asks a person whether the loop may be left.',
    options: [
      ['--from <file>', 'A Markdown checklist: - [ ] T001 [P] Title, - [ ] 1.1 Title'],
      ['--drop <task>', 'Remove a task for good; a person only'],
      ['--reason <text>', 'Why it is removed; the status shows it'],
      yesOption,
      runOption,
      ...placeOptions,
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
    summary: 'Take a task where several agents work',
    usage: 'stepfast claim [<task>] [--as name]',
    about:
      'Takes a ready task, the first by default, and answers with its handle. Whoever claims needs a name: --as, or STEPFAST_SESSION.',
    options: [['--as <name>', 'Who holds it'], runOption, ...placeOptions],
    examples: ['stepfast claim --as worker-2', 'stepfast claim task-3'],
    load: () => import('../act/claim.ts'),
  },
  {
    name: 'ask',
    group,
    summary: 'Ask a person a question; the position waits',
    usage: 'stepfast ask <question> [--at handle]',
    about: 'The position waits until a person answers with: stepfast answer',
    options: [atOption, runOption, ...placeOptions],
    examples: ['stepfast ask "Should old links keep working?"'],
    load: () => import('../act/ask.ts'),
  },
  {
    name: 'note',
    group,
    summary: 'Keep something word for word',
    usage: 'stepfast note <kind> <text> [--key key]',
    about:
      'Kinds: decision, rejection, correction, reminder, variable, artefact, reading. It comes back in every briefing; one with the same kind and key is replaced.',
    options: [
      ['--key <key>', 'Replaces the note of this kind and key'],
      atOption,
      runOption,
      ...placeOptions,
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
    about: 'Without an argument it prints the list. With one it replaces the whole list.',
    options: [runOption, ...placeOptions],
    examples: ['stepfast todo', 'stepfast todo - < TODO.md'],
    load: () => import('../act/todo.ts'),
  },
  {
    name: 'hold',
    group,
    summary: 'Let no session stop until a command is green',
    usage: 'stepfast hold [<command>] [--off]',
    about:
      "For work without a workflow. When an agent's session in this worktree wants to stop, Stepfast runs the command; while it is red the session goes on with its last lines, once a turn and three times in all. What takes over 45 seconds holds nobody. It ends after 24 hours or with --off; without a command it shows what holds. Only a person can set or lift it: it needs a terminal and no agent's variables in the environment.",
    options: [['--off', 'Lift it'], ...placeOptions],
    examples: ['stepfast hold "npm test"', 'stepfast hold', 'stepfast hold --off'],
    load: () => import('../act/hold.ts'),
  },
];
