import { type Command, json, projectOptions } from './command.ts';

const group = 'Workflows';

export const workflows: readonly Command[] = [
  {
    name: 'new',
    group,
    summary: 'Create a workflow from a bundled one',
    usage: 'stepfast new <name> [--from workflow]',
    about:
      'Writes .stepfast/workflows/<name>.yaml, a copy of a bundled workflow with the line that gives editors its schema. Overwrites nothing.',
    options: [['--from <workflow>', 'Bundled workflow to copy (default: go)'], ...projectOptions],
    examples: ['stepfast new deploy', 'stepfast new story --from feature'],
    load: () => import('../setup/new.ts'),
  },
  {
    name: 'validate',
    group,
    summary: 'Validate workflow files and suggest fixes',
    usage: 'stepfast validate [files] [--json]',
    about:
      "Validates the given files or workflow names, or every workflow in the project's .stepfast/workflows.",
    options: [json],
    examples: ['stepfast validate', 'stepfast validate .stepfast/workflows/feature.yaml --json'],
    load: () => import('../validate.ts'),
  },
  {
    name: 'list',
    group,
    summary: 'List the available workflows',
    usage: 'stepfast list [--json]',
    about:
      "Lists the project's workflows, then the user's, then the bundled ones. If a name repeats, the first one wins.",
    options: [json],
    examples: ['stepfast list'],
    load: () => import('../list.ts'),
  },
  {
    name: 'graph',
    group,
    summary: 'Draw a workflow in the terminal, as Mermaid or as SVG',
    usage: 'stepfast graph <workflow> [--format tree|mermaid|svg] [--output file]',
    about: 'Draws a workflow, given by name or file.',
    options: [
      ['-f, --format <format>', 'tree (default), mermaid or svg'],
      ['-o, --output <file>', 'Output file; its extension sets the default format'],
    ],
    examples: ['stepfast graph feature', 'stepfast graph feature --output docs/feature.svg'],
    load: () => import('../graph.ts'),
  },
  {
    name: 'dry-run',
    group,
    summary: 'Simulate a workflow without an agent',
    usage: 'stepfast dry-run <workflow> [--random | --seed n | --script file] [options]',
    about:
      'Simulates a run from start to end and prints every position, context action, gate, verdict and refusal. By default every step succeeds. Conditions are evaluated on the simulated run, so one that never holds is red. Executes no commands and writes no files. The format of a script: docs/workflow.md#dry-run.',
    options: [
      ['--random', 'Inject failures: red gates, failed steps, late calls, rejected reviews'],
      ['--seed <n>', 'Like --random, with a fixed seed'],
      ['--script <file>', 'Start with the moves in a YAML list: advance, fail, gates, review, tasks…'],
      ['--tasks <n>', 'Tasks per loop (default: 2)'],
      ['--input <name=value>', 'Value of an input; repeatable'],
      ['--instructions', 'Print the full instructions of each position'],
      json,
    ],
    examples: ['stepfast dry-run feature', 'stepfast dry-run feature --seed 7'],
    load: () => import('../dry-run.ts'),
  },
];
