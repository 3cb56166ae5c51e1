import { describe, expect, test } from 'vitest';
import { action, Run, workflow } from '../../test/kit/run.ts';
import { outputProblem, schemaProblem } from './index.ts';

const packages = {
  type: 'object',
  required: ['packages'],
  additionalProperties: false,
  properties: {
    packages: {
      type: 'array',
      minItems: 1,
      maxItems: 2,
      items: {
        type: 'object',
        required: ['name'],
        properties: {
          name: { type: 'string', minLength: 2, maxLength: 4 },
          level: { enum: ['patch', 'minor', 1, null] },
          size: { type: ['integer', 'null'], minimum: 1, maximum: 9 },
          kind: { anyOf: [{ const: 'dev' }, { type: 'array', items: { type: 'boolean' } }] },
        },
        additionalProperties: { type: 'number' },
      },
    },
  },
};
const problem = (value: unknown, schema: object = packages) =>
  outputProblem({ output: 'json', schema: { ...schema } }, JSON.stringify(value));
const one = (parts: object) => problem({ packages: [{ name: 'abc', ...parts }] });

describe('[L/schema]', () => {
  test.each([
    { level: 'patch' },
    { level: 1 },
    { level: null },
    { size: 1 },
    { size: 9 },
    { size: null },
    { kind: 'dev' },
    { kind: [true, false] },
    { other: 1.5 },
  ])('an output that fits: %j', (parts) => {
    expect(one(parts)).toBeUndefined();
  });

  test.each([
    [{ level: 'major' }, 'packages[0].level'],
    [{ name: 'a' }, 'packages[0].name'],
    [{ name: 'abcde' }, 'packages[0].name'],
    [{ name: 1 }, 'packages[0].name'],
    [{ size: 0 }, 'packages[0].size'],
    [{ size: 10 }, 'packages[0].size'],
    [{ size: 1.5 }, 'packages[0].size'],
    [{ kind: 'prod' }, 'packages[0].kind'],
    [{ kind: [1] }, 'packages[0].kind'],
    [{ other: 'x' }, 'packages[0].other'],
  ])('an output that does not: %j', (parts, path) => {
    expect(one(parts)).toContain(`${path} `);
  });

  test.each([
    [[], 'the output '],
    [null, 'the output '],
    [{}, 'packages '],
    [{ packages: [] }, 'packages '],
    [{ packages: [{ name: 'ab' }, { name: 'ab' }, { name: 'ab' }] }, 'packages '],
    [{ packages: [{ name: 'ab' }, {}] }, 'packages[1].name '],
    [{ packages: [{ name: 'ab' }], more: 1 }, 'more '],
  ])('a structure that does not: %j', (value, path) => {
    expect(problem(value)?.startsWith(path)).toBe(true);
  });

  test('inherited names are no properties', () => {
    expect(problem({}, { required: ['toString'] })).toBeDefined();
    expect(problem({}, { properties: { constructor: { type: 'string' } } })).toBeUndefined();
  });

  test.each([
    [packages, undefined],
    [{ type: 'text' }, { path: ['type'], why: 'value' }],
    [{ items: { pattern: '(a+)+' } }, { path: ['items', 'pattern'], keyword: 'pattern', why: 'keyword' }],
    [{ properties: { a: { $ref: '#' } } }, { path: ['properties', 'a', '$ref'], why: 'keyword' }],
    [{ anyOf: [{ minItems: -1 }] }, { path: ['anyOf', 0, 'minItems'], why: 'value' }],
    [{ additionalProperties: { enum: [] } }, { path: ['additionalProperties', 'enum'], why: 'value' }],
    [{ anyOf: Array.from({ length: 600 }, () => ({})) }, { why: 'too_large' }],
    [{ constructor: 1 }, { keyword: 'constructor', why: 'keyword' }],
    [{ title: 'T', description: 'D', default: {}, examples: [] }, undefined],
  ])('a schema is used or refused: %j', (schema, expected) => {
    if (expected) expect(schemaProblem(schema)).toMatchObject(expected);
    else expect(schemaProblem(schema)).toBeUndefined();
  });
});

describe('[L/output] an action with output: json', () => {
  const definition = workflow([
    action('find', { output: 'json', schema: packages, gate: [{ run: 'true' }] }),
    action('end'),
  ]);
  const good = JSON.stringify({ packages: [{ name: 'abc' }] });

  test('tells the agent what the output must be', () => {
    expect(new Run(definition).status().instructions).toContain(JSON.stringify(packages));
  });

  test('tells it to no command of the engine', () => {
    const find = { id: 'find', type: 'action' as const, run: 'find', output: 'json' as const };
    expect(new Run(workflow([find])).status().instructions).toBe('');
  });

  test.each(['Done!', '{}', ''])('refuses %j and runs no gate', (output) => {
    const run = new Run(definition);
    expect(run.advance(output)).toMatchObject({ code: 'bad_output', params: { why: 'format' } });
    expect(run.state.cursors.find?.checking).toBeUndefined();
  });

  test('takes what fits', () => {
    const run = new Run(definition);
    run.advance(good);
    expect(run.state.cursors.find?.checking?.output).toBe(good);
  });

  test('judges the whole of a long output, not its opening', () => {
    const digest = 'a'.repeat(64);
    const output = { opening: '{"packages', bytes: 70_000, digest };
    const run = new Run(definition);
    expect(run.send({ type: 'advance', output, text: '{}' })).toMatchObject({ code: 'bad_output' });
    run.send({ type: 'advance', output, text: good });
    expect(run.state.cursors.find?.checking?.output).toEqual(output);
  });

  test.each([
    ['Done!', 'stay'],
    [good, 'advance'],
  ])('the end of a turn with %j: its gates run and the position would %s', (output, onPass) => {
    const run = new Run(definition);
    run.send({ type: 'check', at: run.status().at ?? '', output });
    expect(run.state.cursors.find?.checking?.onPass).toBe(onPass);
  });
});
