import { expect, test } from 'vitest';
import {
  commandLines,
  commandsIn,
  compare,
  exitsIn,
  exportsIn,
  schemaLines,
  sorted,
} from '../scripts/surface/lines.ts';

test('commands and exit statuses are read from the overview, not from its sentences', () => {
  const overview = `Usage  stepfast <command> [options]

Work
  go           Do a task, checked by the project's own tests
  dry-run      Walk through a workflow
               without an agent

Exit status
  0   It worked
  70  It failed
`;
  expect(commandsIn(overview)).toEqual(['go', 'dry-run']);
  expect(exitsIn(overview)).toEqual(['0', '70']);
});

test('options and subcommands are read from the help of a command', () => {
  const help = `Makes tokens; - and --never are not options of it.

Usage  stepfast token create <name|-> | list | revoke <id> [--yes | --no] --project <project>

Options
  --project <project>    The project
                         --other is no option
  -i, --input <a=b>      A value
  -y, --yes              Do not ask
  --very-long-option <v>

Example
  stepfast token list --json
`;
  expect(commandLines('cli token', help)).toEqual([
    'cli token',
    'cli token create',
    'cli token list',
    'cli token revoke',
    'cli token --project <value>',
    'cli token -i <value>',
    'cli token --input <value>',
    'cli token -y',
    'cli token --yes',
    'cli token --very-long-option <value>',
  ]);
  expect(commandLines('cli go', 'Usage  stepfast go [<text> | -]\n')).toEqual(['cli go']);
});

test('properties and listed values are read from a schema, also where it refers to itself', () => {
  const task = {
    properties: { id: {}, parts: { items: { $ref: '#/$defs/task' } } },
  };
  const schema = {
    properties: {
      kind: { anyOf: [{ enum: ['a', 'b'] }, { const: 'c' }] },
      tasks: { items: { $ref: '#/$defs/task' } },
      inputs: { additionalProperties: { properties: { value: {} } } },
    },
    $defs: { task },
  };
  expect(schemaLines('tool', schema)).toEqual([
    'tool kind',
    'tool kind = a',
    'tool kind = b',
    'tool kind = c',
    'tool tasks',
    'tool tasks[].id',
    'tool tasks[].parts',
    'tool inputs',
    'tool inputs.*.value',
  ]);
});

test('names are read from a declaration file and from those that it exports whole', () => {
  const text = `export { type A, b as c,
  D } from './a.d.ts';
export type { E } from './e.d.ts';
export declare function f(): void;
export interface G {}
export * from './h.ts';
declare const hidden: string;
`;
  expect(exportsIn(text, (path) => [`all of ${path}`])).toEqual([
    'A',
    'c',
    'D',
    'E',
    'f',
    'G',
    'all of ./h.ts',
  ]);
});

test('what was lost and what was added is told apart, whatever the order', () => {
  expect(compare(['a', 'b', 'c'], ['c', 'd', 'a'])).toEqual({ lost: ['b'], added: ['d'] });
  expect(sorted(['b', 'a', 'b'])).toEqual(['a', 'b']);
});
