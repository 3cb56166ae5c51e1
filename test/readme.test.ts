import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { loadWorkflowTemplate, WorkflowStateMachine } from '../src/index.ts';

const read = (file: string): string => readFileSync(new URL(`../${file}`, import.meta.url), 'utf8');
const readme = read('README.md');

test('the workflow in the README is the one in the picture', () => {
  const [, printed] = /```yaml\n([\s\S]*?)```/.exec(readme) ?? [];
  expect(printed).toBe(read('docs/example.yaml'));
  expect(loadWorkflowTemplate('docs/example.yaml').name).toBe('feature');
});

test('the README names every bundled workflow', () => {
  const [, names = ''] = /workflows are bundled: ([^.]*)\./.exec(readme) ?? [];
  const bundled = readdirNames();
  expect(names.split(', ').sort()).toEqual(bundled);
});

test('the library example in the README does what it says', () => {
  const [, code = ''] = /```ts\n([\s\S]*?)```/.exec(readme) ?? [];
  const body = code.replace(/^import .*\n/m, '');
  const results: unknown[] = [];
  const expected = [...body.matchAll(/;? \/\/ '(\w+)'/g)].map((match) => match[1]);
  const recording = body.replaceAll(/^(machine\.[^\n]*?); \/\/ .*$/gm, 'results.push($1);');
  new Function('loadWorkflowTemplate', 'WorkflowStateMachine', 'results', recording)(
    loadWorkflowTemplate,
    WorkflowStateMachine,
    results,
  );
  expect(results).toEqual(expected);
  expect(results).toHaveLength(2);
});

function readdirNames(): string[] {
  const listed = readdirSync(new URL('../workflows', import.meta.url));
  return listed.map((file) => file.replace(/^.*\/|\.yaml$/g, '')).sort();
}
