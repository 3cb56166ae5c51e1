import { type Command, json, projectOptions, yesOption } from './command.ts';

const group = 'Set up';

export const setUp: readonly Command[] = [
  {
    name: 'init',
    group,
    summary: 'Set up Stepfast and Claude Code in a project',
    usage: 'stepfast init [--yes] [--test command] [--team] [--host none]',
    about:
      "Detects the test command, or asks for it at a terminal, runs it once for at most 60 seconds, and writes .stepfast/workflows/go.yaml, config.yaml with the defaults, and a .gitignore for runs. Installs the plugin for you in this project with Claude Code's own commands. Shows every file and command first, asks once, and overwrites nothing. The written workflow is trusted. Run it again to update the plugin.",
    options: [
      yesOption,
      ['--test <command>', 'Test command, instead of the detected one'],
      ['--team', 'Enable the plugin in .claude/settings.json, which is committed'],
      ['--host <host>', 'Host to set up: claude-code or none; repeatable'],
      ...projectOptions,
    ],
    examples: ['npx stepfast init', 'stepfast init --yes --team', 'stepfast init --host none'],
    load: () => import('../setup/init.ts'),
  },
  {
    name: 'uninstall',
    group,
    summary: 'Remove Stepfast from Claude Code in this project',
    usage: 'stepfast uninstall [--yes] [--team]',
    about:
      "Removes the plugin with Claude Code's own commands and restores each settings file. If a file was edited since, only Stepfast's entries are removed. Keeps .stepfast with its workflows and runs.",
    options: [
      yesOption,
      ['--team', 'Also remove it from .claude/settings.json, which is committed'],
      ['--host <host>', 'Host to remove from: claude-code; repeatable'],
      ...projectOptions,
    ],
    examples: ['stepfast uninstall', 'stepfast uninstall --yes'],
    load: () => import('../setup/uninstall.ts'),
  },
  {
    name: 'doctor',
    group,
    summary: 'Diagnose the installation and suggest fixes',
    usage: 'stepfast doctor [--live]',
    about:
      'Checks Node.js, the project, trust, runs and their marks, the agent programs on this machine, the plugin, its hooks and the MCP server. Each line states the problem and the fix. Missing marks are restored. --live also starts every hook and the agent programs with a scripted model, in a temporary project with its own configuration.',
    options: [
      ['--live', 'Also start the hooks and the agent programs; takes up to a minute each'],
      ...projectOptions,
    ],
    examples: ['stepfast doctor', 'stepfast doctor --live', 'stepfast doctor --json'],
    load: () => import('../setup/doctor.ts'),
  },
  {
    name: 'notify',
    group,
    summary: 'Send yourself a test notification',
    usage: 'stepfast notify',
    about:
      'Rings the bell, runs the command and calls the webhook of `notify` in your own configuration, as a run does whose workflow has `notify`, and prints how each went.',
    options: [json],
    examples: ['stepfast notify', 'stepfast notify --json'],
    load: () => import('../setup/notify.ts'),
  },
  {
    name: 'verify',
    group,
    summary: "Run a workflow's gates on the current commit",
    usage: 'stepfast verify <workflow> | --run <run> [--base ref] [--trust sha256:...]',
    about:
      'For CI. Runs every gate of the workflow, as committed, in a temporary worktree of HEAD, without a run. Gates that depend on a run are skipped. Files ignored by git, such as installed packages, are missing: the gate command must install what it needs. With --run, fetches a pushed run and answers same (exit status 0), differs (5) or no_run (3): its history is intact, its workflow is the one of the base branch, it is complete, the tree of its last green gates is the tree of HEAD or of the branch that HEAD merges, and the gates of the base branch pass on HEAD. This proves integrity, not who wrote the run.',
    options: [
      ['--workflow <workflow>', 'Same as the argument'],
      ['--run <run>', 'Id or suffix of a run that was pushed'],
      [
        '--base <ref>',
        "With --run: branch or commit whose workflow counts (default: the remote's default branch)",
      ],
      ['--remote <name>', 'With --run: git remote (default: origin)'],
      ['--trust <hash>', 'Trust this workflow hash for this call'],
      [
        '-i, --input <name=value>',
        'Value of an input (with --run: instead of the one of the run); repeatable',
      ],
      ...projectOptions,
    ],
    examples: [
      'stepfast verify go',
      'stepfast verify go --trust sha256:4f1a... --json',
      'stepfast verify --run k3f9x2ab --base main --trust sha256:4f1a...',
    ],
    load: () => import('../setup/verify.ts'),
  },
  {
    name: 'mcp',
    group,
    summary: 'Run the MCP server on stdio',
    usage: 'stepfast mcp [--workflow-path file]',
    about: 'Serves the MCP tools on stdin and stdout until the client disconnects. Started by agents.',
    options: [
      ['--workflow-path <file>', 'Default workflow for workflow_start'],
      ['--tools-only', 'Disable prompts and resources, which cost tokens in some hosts'],
      ...projectOptions.filter(([flag]) => flag !== '--json'),
    ],
    examples: ['claude mcp add stepfast -- npx stepfast mcp'],
    load: () => import('../setup/mcp.ts'),
  },
  {
    name: 'completions',
    group,
    summary: 'Print shell completions',
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
    about:
      'Internal process that runs gates, sets up a worktree or cleans up after a run; started by the call that needs it.',
    options: projectOptions,
    examples: ['stepfast gate-runner feature-20261114-k3f9x2ab k3f9x2ab:plan#1!1'],
    load: () => import('../setup/gate-runner.ts'),
  },
  {
    name: 'notifier',
    group,
    hidden: true,
    summary: 'Notify the user of what happened to a run',
    usage: 'stepfast notifier',
    about: 'Internal process; started by the process that changed the run.',
    options: [],
    examples: ['stepfast notifier'],
    load: () => import('../setup/notifier.ts'),
  },
  {
    name: 'hook',
    group,
    hidden: true,
    summary: 'Handle one hook event of a host',
    usage: 'stepfast hook --host <host> <event>',
    about:
      'Reads the hook input from stdin and prints the response for the host. Never fails: without an active run, or on an error, it prints nothing. Hosts call it through hooks/stepfast-hook.sh.',
    options: [['--host <host>', 'Host that sent the event: claude-code']],
    examples: ['stepfast hook --host claude-code SessionStart'],
    load: () => import('../hook/command.ts'),
  },
];
