import { expect, test } from 'vitest';
import { parseWorkflow } from './parse.ts';

const found = (parts: string) =>
  parseWorkflow(`name: x\ndescription: d\nsteps:\n  - { id: a, type: action, instructions: A, ${parts} }\n`, {
    file: 'x.yaml',
  }).diagnostics.map(({ code, line, column, suggestion }) => ({ code, at: `${line}:${column}`, suggestion }));

test('[L/schema] a schema belongs to output: json', () => {
  expect(found('output: json, schema: { type: object }')).toEqual([]);
  expect(found('schema: { type: object }')).toMatchObject([{ code: 'schema_without_json' }]);
});

test.each([
  ['{ propertys: {} }', 'properties'],
  ['{ type: object, items: { pattern: a } }', 'gate'],
  ['{ type: text }', 'docs/workflow.md'],
  ['{ properties: { a: 1 } }', 'docs/workflow.md'],
])('[L/schema] %s is refused where it is written, with what to write', (schema, suggestion) => {
  const [problem] = found(`output: json, schema: ${schema}`);
  expect(problem).toMatchObject({ code: 'bad_schema' });
  expect(problem?.suggestion).toContain(suggestion);
  expect(Number(problem?.at.split(':')[1])).toBeGreaterThan(60);
});

test('[L/output] a loop has no output of its own', () => {
  const loop =
    'name: x\ndescription: d\nsteps: [{ id: l, type: loop, output: json, schema: {} }]\nloops: { l: [{ id: s, instructions: S }] }\n';
  const { diagnostics } = parseWorkflow(loop, { file: 'x.yaml' });
  expect(diagnostics.map(({ code }) => code)).toEqual(['not_on_loop', 'not_on_loop']);
});
