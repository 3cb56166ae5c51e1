import { ignored } from '../../workspace/index.ts';
import { schemaLine } from './schema-line.ts';
import type { TestCommand } from './test-command.ts';

const config = `# Settings for every workflow of this project. A workflow's own settings win.
# These are the defaults. Uncomment a line to change it.

# Whether a /compact or /clear between two steps is required: prefer, require or off.
# boundaries: prefer

# What happens when an agent's turn ends before the run is complete: allow, hold or check.
# stop: allow

# false removes a run when it completes.
# keep: true

# Where to write the to-do list in the worktree; by default it is in the run's directory.
# todo_path: TODO.md

# Maximum size of a briefing in estimated tokens.
# briefing: { budget: 2500 }
`;

/** The files of a new project, by their path below `.stepfast`. */
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

const about =
  '# How tasks are done and verified in this project: the bundled workflow with the test command of the project.\n';

/** A `go` that an earlier version has written, as this one writes it; undefined for any other file. */
export const updatedGo = (text: string): string | undefined =>
  text.includes(about) && /^#? *- id: verify$/m.test(text)
    ? text.replace(/^(#? *)- id: verify$/m, '$1- id: do')
    : undefined;

function goWorkflow([test, ...others]: readonly TestCommand[], schema: string | undefined): string {
  const head = schema === undefined ? '' : `${schemaLine(schema)}#\n`;
  const start = `${head}${about}\nname: go\nextends: go\n`;
  if (!test) {
    return `${start}
# No test command was found, so results are marked unverified. Add yours here:
# steps:
#   - id: do
#     gate:
#       - run: npm test
`;
  }
  const more = others.map(({ command, from }) => `      # - run: ${command}   # ${from}\n`).join('');
  return `${start}
steps:
  - id: do
    gate:
      - run: ${yamlText(test.command)}
${more}`;
}

/** Quoted unless it is plain words, which YAML takes as they are. */
export const yamlText = (command: string): string =>
  /^[a-z][\w./-]*( [\w./=-]+)+$/i.test(command) ? command : `'${command.replaceAll("'", "''")}'`;
