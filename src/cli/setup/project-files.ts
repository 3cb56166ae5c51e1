import { ignored } from '../../workspace/index.ts';
import type { TestCommand } from './test-command.ts';

const config = `# What holds for every workflow of this project; what a workflow says itself wins.
# These are the defaults: take away the # before one to change it.

# Whether a /compact or /clear between two steps must be seen: prefer, require or off.
# boundaries: prefer

# Whether an agent that wants to stop early is asked to go on: allow or hold.
# stop: allow

# false removes a run with its last step.
# keep: true

# A copy of the to-do list in the worktree; without it the list is in the run's directory.
# todo_path: TODO.md

# How long a briefing may be, in estimated tokens.
# briefing: { budget: 2500 }
`;

/** The files of a fresh project, by their path below `.stepfast`. */
export function projectFiles(
  tests: readonly TestCommand[],
  schema: string | undefined,
): Record<string, string> {
  return {
    '.gitignore': ignored,
    'config.yaml': config,
    'workflows/go.yaml': goWorkflow(tests, schema),
  };
}

function goWorkflow([test, ...others]: readonly TestCommand[], schema: string | undefined): string {
  const head = schema === undefined ? '' : `# yaml-language-server: $schema=${schema}\n#\n`;
  const about =
    '# How a task is done and checked in this project: the bundled workflow with our own test command.\n';
  const start = `${head}${about}\nname: go\nextends: go\n`;
  if (!test) {
    return `${start}
# No test command was found, so results are labelled unverified. Write yours here:
# steps:
#   - id: verify
#     gate:
#       - run: npm test
`;
  }
  const more = others.map(({ command, from }) => `      # - run: ${command}   # ${from}\n`).join('');
  return `${start}
steps:
  - id: verify
    gate:
      - run: ${test.command}
${more}`;
}
