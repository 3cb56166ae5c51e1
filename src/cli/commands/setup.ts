import { type Command, placeOptions, yesOption } from './command.ts';

const group = 'Set up';

export const setUp: readonly Command[] = [
  {
    name: 'init',
    group,
    summary: 'Prepare a project, and Claude Code for it',
    usage: 'stepfast init [--yes] [--team] [--host none]',
    about:
      "Finds out how the project is tested and writes .stepfast/workflows/go.yaml with it, config.yaml with the defaults, and a .gitignore for runs. Installs the plugin for this project by Claude Code's own commands, for you alone. Shows every file and command first, asks once, overwrites nothing. What it writes is trusted. Again, it brings the plugin up to date.",
    options: [
      yesOption,
      ['--team', 'Switch the plugin on in .claude/settings.json, which is committed'],
      ['--host <host>', 'Only this host: claude-code, or none; may be given several times'],
      ...placeOptions,
    ],
    examples: ['npx stepfast init', 'stepfast init --yes --team', 'stepfast init --host none'],
    load: () => import('../setup/init.ts'),
  },
  {
    name: 'uninstall',
    group,
    summary: 'Take Stepfast out of Claude Code in this project',
    usage: 'stepfast uninstall [--yes] [--team]',
    about:
      'Removes the plugin by the commands of Claude Code. Each settings file becomes what it was before, byte for byte; where a setting was changed since, the change stays and only our entries are removed. .stepfast with workflows and runs stays.',
    options: [
      yesOption,
      ['--team', 'Also take it out of .claude/settings.json, which is committed'],
      ['--host <host>', 'Only this host: claude-code; may be given several times'],
      ...placeOptions,
    ],
    examples: ['stepfast uninstall', 'stepfast uninstall --yes'],
    load: () => import('../setup/uninstall.ts'),
  },
  {
    name: 'doctor',
    group,
    summary: 'See whether everything works, and what mends it',
    usage: 'stepfast doctor [--live]',
    about:
      'Looks at Node, the project, trust, runs and their marks, the agent programs on this machine, the plugin, its hooks and the MCP server. Each line says what is wrong and what to do. Marks of runs are made again where they are missing. --live starts every hook, and Claude Code itself against a model that this program plays, in a temporary project with a configuration of its own.',
    options: [['--live', 'Also start the hooks and Claude Code; up to a minute'], ...placeOptions],
    examples: ['stepfast doctor', 'stepfast doctor --live', 'stepfast doctor --json'],
    load: () => import('../setup/doctor.ts'),
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
      ['--tools-only', 'No prompts and no resources, which cost some hosts tokens'],
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
