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

test('[U17] the README begins with three commands and the recording, then comes the YAML', () => {
  const at = (part: string): number => {
    const index = readme.indexOf(part);
    expect(index, part).toBeGreaterThan(-1);
    return index;
  };
  const order = ['npx stepfast init', 'claude', '/stepfast:go', 'docs/screens/false-done.svg', '```yaml'].map(
    at,
  );
  expect(order).toEqual([...order].sort((a, b) => a - b));
  expect(readme.slice(0, order.at(-1)).split('\n').length).toBeLessThan(40);
  for (const [, picture = ''] of readme.matchAll(/src(?:set)?="(docs\/[^"]+)"/g))
    expect(read(picture)).toContain(picture.endsWith('.png') ? 'PNG' : '<svg');
});

function readdirNames(): string[] {
  const listed = readdirSync(new URL('../workflows', import.meta.url));
  return listed.map((file) => file.replace(/^.*\/|\.yaml$/g, '')).sort();
}
