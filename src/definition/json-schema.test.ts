import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { workflowJsonSchema } from './json-schema.ts';
import { parseWorkflow } from './parse.ts';

const root = join(import.meta.dirname, '..', '..');
const validate = new Ajv({ strict: false, allErrors: true }).compile(workflowJsonSchema());

const filesIn = (folder: string): [name: string, text: string][] =>
  readdirSync(join(root, folder))
    .filter((name) => name.endsWith('.yaml'))
    .sort()
    .map((name) => [name, readFileSync(join(root, folder, name), 'utf8')]);

test('A13: of twelve files with one mistake each, validate refuses all and the schema those that it can', () => {
  const wrong = filesIn('test/fixtures/wrong-workflows');
  expect(wrong).toHaveLength(12);
  const errorsOf = (text: string) =>
    parseWorkflow(text, { file: 'x.yaml' }).diagnostics.filter(({ severity }) => severity === 'error');
  expect(wrong.map(([name, text]) => [name, errorsOf(text).length])).toEqual(
    wrong.map(([name]) => [name, 1]),
  );
  const passed = wrong.filter(([, text]) => validate(parse(text))).map(([name]) => name);
  expect(passed).toEqual(['11-duplicate-id.yaml', '12-unknown-input.yaml']);
});

test('A13: the schema takes what validate takes', () => {
  for (const [name, text] of filesIn('workflows'))
    expect([name, validate(parse(text)), validate.errors]).toEqual([name, true, null]);
  const fitting = [
    'name: x\nextends: go\nsteps: [{ id: do, gate: [{ run: npm test }] }]\n',
    'name: x\nextends: qa-loop\nremove: [verify]\nsteps: [{ id: fix_issues, on_exhausted: complete }]\n',
    'id: x\nsteps: [{ id: a, type: ralph, n: 2, instructions: Do, until: [{ read: [a..b/c.md] }], on_exhausted: fail }]\n',
    'name: x\ninputs: { n: { type: number, default: 3 } }\nsteps: [{ id: a, type: action, instructions: Do, on_fail: { retry: 2 } }]\n',
    'name: x\ncritical_artifacts: { always_load: [{ id: g, type: git_info }] }\nsteps: [{ id: a, type: action, instructions: Do }]\n',
  ];
  expect(fitting.filter((text) => !validate(parse(text)))).toEqual([]);
});

test('[L/enum] [L/pattern] the schema takes values of the type, and a pattern for texts', () => {
  const withInput = (input: string) =>
    `name: x\ninputs: { n: { ${input} } }\nsteps: [{ id: a, type: action, instructions: Do }]\n`;
  const taken = ['enum: [a]', 'type: number, enum: [1, 2]', 'type: string, enum: [a], pattern: "a*"'];
  const refused = [
    'enum: []',
    'type: number, enum: [a]',
    'type: string, enum: [1]',
    'type: number, pattern: a',
  ];
  expect(taken.filter((input) => !validate(parse(withInput(input))))).toEqual([]);
  expect(refused.filter((input) => validate(parse(withInput(input))))).toEqual([]);
});

test('[L/expect] [L/contains] the schema takes both only with run, and no rerun of a failure', () => {
  const withGate = (gate: string) =>
    `name: x\nsteps: [{ id: a, type: action, instructions: Do, gate: [{ ${gate} }] }]\n`;
  const taken = ['run: x, expect: fail', 'run: x, contains: y', 'run: x, expect: fail, rerun: false'];
  const refused = [
    ...['exists: x, expect: fail', 'exists: x, contains: y', 'run: x, expect: pass'],
    ...['run: x, contains: ""', 'run: x, expect: fail, rerun: true'],
  ];
  expect(taken.filter((gate) => !validate(parse(withGate(gate))))).toEqual([]);
  expect(refused.filter((gate) => validate(parse(withGate(gate))))).toEqual([]);
});

test.each(['todo_path', 'state_mirror'])(
  '%s is a path below the root, for the schema as for validate',
  (key) => {
    const withPath = (path: string) =>
      `name: x\ndescription: x\n${key}: ${path}\nsteps: [{ id: a, type: action, instructions: Do }]\n`;
    const codes = (path: string) =>
      parseWorkflow(withPath(path), { file: 'x.yaml' }).diagnostics.map(({ code }) => code);
    for (const path of ['../x', '/x', '~/x', '.', './', './/.'])
      expect([path, validate(parse(withPath(path))), codes(path)]).toEqual([path, false, ['bad_path']]);
    for (const path of ['.x', './x', 'x/', 'a/.b', '...'])
      expect([path, validate(parse(withPath(path))), codes(path)]).toEqual([path, true, []]);
  },
);

test('[004/9] the published workflow.schema.json is current', () => {
  const file = join(import.meta.dirname, '..', '..', 'schema', 'workflow.schema.json');
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(JSON.parse(JSON.stringify(workflowJsonSchema())));
});

test('every key of a workflow file is described', () => {
  const missing: string[] = [];
  const walk = (schema: unknown, path: string): void => {
    if (typeof schema !== 'object' || schema === null) return;
    for (const [key, value] of Object.entries(schema)) {
      if (key === 'if' || key === 'then' || key === 'else') continue;
      if (key === 'properties' && typeof value === 'object' && value !== null) {
        for (const [name, property] of Object.entries<{ description?: unknown }>({ ...value })) {
          if (typeof property.description !== 'string') missing.push(`${path}.${name}`);
        }
      }
      walk(value, key === 'properties' || key === 'items' ? path : `${path}.${key}`);
    }
  };
  walk(workflowJsonSchema(), '');
  expect(missing).toEqual([]);
});

test('it is draft-07, has a title, no address of its own, and refuses unknown keys', () => {
  const schema = workflowJsonSchema();
  expect(schema).toMatchObject({
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Stepfast workflow',
    additionalProperties: false,
  });
  expect(schema).not.toHaveProperty('$id');
});
