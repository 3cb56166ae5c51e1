import { type Command, placeOptions, yesOption } from './command.ts';

const group = 'Set up';

export const setUp: readonly Command[] = [
  {
    name: 'init',
    group,
    summary: 'Prepare a project: test command, workflow, settings',
    usage: 'stepfast init [--yes]',
    about:
      'Finds out how the project is tested and writes .stepfast/workflows/go.yaml with it, config.yaml with the defaults, and a .gitignore for runs. Shows every file first, asks once, overwrites nothing. What it writes is trusted.',
    options: [yesOption, ...placeOptions],
    examples: ['npx stepfast init', 'stepfast init --yes'],
    load: () => import('../setup/init.ts'),
  },
  {
    name: 'verify',
    group,
    summary: "Run a workflow's gates on what is committed",
    usage: 'stepfast verify <workflow> [--trust sha256:...]',
    about:
      "For CI: runs every gate of a workflow on a temporary worktree of HEAD, as that commit has the workflow, without a run. What only a run can tell is left out. Nothing ignored by git is there, such as installed packages: a gate's command installs what it needs.",
    options: [
      ['--workflow <workflow>', 'The same as the argument'],
      ['--trust <hash>', 'Stands for a person, for this call and this hash only'],
      ['-i, --input <name=value>', 'A value for an input; may be given several times'],
      ...placeOptions,
    ],
    examples: ['stepfast verify go', 'stepfast verify go --trust sha256:4f1a... --json'],
    load: () => import('../setup/verify.ts'),
  },
  {
    name: 'mcp',
    group,
    summary: 'Serve the tools of an agent over MCP',
    usage: 'stepfast mcp [--workflow-path file]',
    about: 'Speaks MCP on stdin and stdout until the client closes them. Agents start it; people need not.',
    options: [
      ['--workflow-path <file>', 'The workflow that a start without a name means'],
      ...placeOptions.filter(([flag]) => flag !== '--json'),
    ],
    examples: ['claude mcp add stepfast -- npx stepfast mcp'],
    load: () => import('../setup/mcp.ts'),
  },
  {
    name: 'completions',
    group,
    summary: 'Print completions for a shell',
    usage: 'stepfast completions <bash|zsh|fish>',
    about: 'Completes commands, options, workflows, runs, steps and handles.',
    options: [],
    examples: [
      'eval "$(stepfast completions bash)"',
      'eval "$(stepfast completions zsh)"',
      'stepfast completions fish > ~/.config/fish/completions/stepfast.fish',
    ],
    load: () => import('../setup/completions.ts'),
  },
  {
    name: 'gate-runner',
    group,
    hidden: true,
    summary: 'Run the gates of one request',
    usage: 'stepfast gate-runner <run> <id>',
    about: 'The process that runs gates; started by advance and by approvals.',
    options: placeOptions,
    examples: ['stepfast gate-runner feature-20261114-k3f9x2ab k3f9x2ab:plan#1!1'],
    load: () => import('../setup/gate-runner.ts'),
  },
  {
    name: 'hook',
    group,
    hidden: true,
    summary: 'Answer one hook of a host',
    usage: 'stepfast hook --host <host> <event>',
    about:
      "Reads a hook's input from stdin and prints what the host expects. Never fails: without an active run, or where something is wrong, it prints nothing. Hosts call it through hooks/stepfast-hook.sh.",
    options: [['--host <host>', 'Whose event it is: claude-code']],
    examples: ['stepfast hook --host claude-code SessionStart'],
    load: () => import('../hook/command.ts'),
  },
];
