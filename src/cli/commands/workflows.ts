import { type Command, json } from './command.ts';

const group = 'Workflows';

export const workflows: readonly Command[] = [
  {
    name: 'validate',
    group,
    summary: 'Check workflow files and say what to write instead',
    usage: 'stepfast validate [files] [--json]',
    about:
      "Checks the files, or every workflow in the project's .stepfast/workflows when none is named. A workflow's name does as well as its file.",
    options: [json],
    examples: ['stepfast validate', 'stepfast validate .stepfast/workflows/feature.yaml --json'],
    load: () => import('../validate.ts'),
  },
  {
    name: 'list',
    group,
    summary: 'Show the workflows that can be started here',
    usage: 'stepfast list [--json]',
    about: "Lists the project's workflows, then the user's, then the bundled ones. The first of a name wins.",
    options: [json],
    examples: ['stepfast list'],
    load: () => import('../list.ts'),
  },
  {
    name: 'graph',
    group,
    summary: 'Draw a workflow in the terminal, as Mermaid or as SVG',
    usage: 'stepfast graph <workflow> [--format tree|mermaid|svg] [--output file]',
    about: 'Draws a workflow, given by its name or its file.',
    options: [
      ['-f, --format <format>', 'tree (default), mermaid or svg'],
      ['-o, --output <file>', "Write to a file; its ending chooses the format if --format doesn't"],
    ],
    examples: ['stepfast graph feature', 'stepfast graph feature --output docs/feature.svg'],
    load: () => import('../graph.ts'),
  },
  {
    name: 'dry-run',
    group,
    summary: 'Walk through a workflow without an agent',
    usage: 'stepfast dry-run <workflow> [--random | --seed n | --script file] [options]',
    about:
      'Walks the machine from start to end and prints every position, context action, gate, verdict and refusal. Without options everything goes well. Nothing is run and nothing is written.',
    options: [
      ['--random', 'Let things go wrong: red gates, failures, late calls, second thoughts'],
      ['--seed <n>', 'The same, repeatable'],
      ['--script <file>', 'Play the moves of a YAML list first: advance, fail, gates, review, tasks…'],
      ['--tasks <n>', 'How many tasks each loop gets (2)'],
      ['--input <name=value>', 'A value for an input; may be given several times'],
      ['--instructions', 'Print the whole instructions of each position'],
      json,
    ],
    examples: ['stepfast dry-run feature', 'stepfast dry-run feature --seed 7'],
    load: () => import('../dry-run.ts'),
  },
];
