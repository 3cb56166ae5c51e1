import { describe, expect, test } from 'vitest';
import { formatDiagnostic } from './diagnostics.ts';
import { parseWorkflow } from './parse.ts';

const head = 'name: x\ndescription: x\n';
const action = '{ id: a, type: action, instructions: Do }';

const parse = (text: string) => parseWorkflow(text, { file: 'x.yaml' });
const find = (text: string, code: string) =>
  parse(text).diagnostics.find((diagnostic) => diagnostic.code === code);

describe('diagnostics', () => {
  test('all errors come at once, sorted by position', () => {
    const { definition, diagnostics } = parse(`name: x
description: x
stps: []
steps:
  - id: a
    type: action
    instruction: Do
    context: warm
    gate: [{ condition: 'stat.x == 1' }]
  - id: a
    type: loop
`);
    expect(definition).toBeUndefined();
    expect(diagnostics.map(({ line, column, code }) => [line, column, code])).toEqual([
      [3, 1, 'unknown_key'],
      [7, 5, 'unknown_key'],
      [8, 14, 'wrong_value'],
      [9, 26, 'bad_condition'],
      [10, 9, 'duplicate_id'],
      [10, 9, 'unknown_loop'],
    ]);
  });

  test('a text of the file cannot steer the terminal', () => {
    const { diagnostics } = parse(`${head}"\\e[31mred\\u202e": 1\nsteps: [${action}]`);
    expect(diagnostics[0]?.message).toBe("Unknown key '\ufffd[31mred\ufffd'");
  });

  test('broken YAML is reported without what only seems to be missing', () => {
    const { diagnostics } = parse(`${head}steps:\n  - id: a\n    type: action\n   instructions: Do\n`);
    expect(diagnostics.map(({ code }) => code)).toEqual(['yaml']);
    expect(diagnostics[0]?.suggestion).toContain('indentation');
  });

  test('one is printed as a line and an indented suggestion', () => {
    const [first] = parse(`${head}stps: []\nsteps: [${action}]`).diagnostics;
    expect(first && formatDiagnostic(first)).toBe(
      "x.yaml:3:1 error Unknown key 'stps'\n  Did you mean 'steps'?",
    );
  });

  const step = (fields: string) => `${head}steps: [{ id: a, type: action, instructions: Do, ${fields} }]`;
  const gate = (fields: string) => step(`gate: [{ ${fields} }]`);
  const input = (fields: string) => `${head}inputs: { n: { ${fields} } }\nsteps: [${action}]`;
  const loop = (fields: string) =>
    `${head}loops: { a: [{ id: s, instructions: Do }] }\nsteps: [{ id: a, type: loop, ${fields} }]`;
  test.each([
    ['unknown_key', step('instructons: x'), "Did you mean 'instructions'?"],
    ['missing_key', 'description: x\nsteps: []', 'name:'],
    ['missing_key', `${head}steps: [{ id: a, instructions: Do }]`, 'type: action'],
    ['wrong_type', step('artefacts: maybe'), undefined],
    ['wrong_type', `${head}steps: [{ id: a, type: action, instructions: { task.title } }]`, 'in quotes'],
    ['wrong_type', `${head}agents:\nsteps: [${action}]`, 'remove the key'],
    ['wrong_type', step('gate: { run: npm test }'), 'Begin each entry with -'],
    ['wrong_value', `${head}boundaries: require_\nsteps: [${action}]`, "Did you mean 'require'?"],
    ['bad_id', `${head}steps: [{ id: 'a b', type: action, instructions: Do }]`, 'letters'],
    ['bad_id', `${head}steps: [{ id: toString, type: action, instructions: Do }]`, 'another id'],
    ['merge_without_parallel', loop('merge_gate: [{ run: npm test }]'), 'parallel:'],
    ['merge_without_parallel', loop('parallel: 1, merge_gate: [{ run: npm test }]'), 'parallel:'],
    ['merge_gate_kind', loop("parallel: 2, merge_gate: [{ condition: 'true' }]"), 'run:'],
    ['merge_gate_kind', loop('parallel: 2, merge_gate: [{ read: a.md }]'), 'run:'],
    ['merge_gate_kind', loop('parallel: 2, merge_gate: [{ run: npm test, expect: fail }]'), 'run:'],
    ['merge_gate_kind', loop('parallel: 2, merge_gate: [{ run: npm test, rerun: true }]'), 'run:'],
    ['out_of_range', step('attempts: 0'), undefined],
    ['out_of_range', step('attempts: 101'), undefined],
    ['out_of_range', step('budget: { turns: 0 }'), undefined],
    ['out_of_range', `${head}briefing: { budget: 2499 }\nsteps: [${action}]`, undefined],
    ['out_of_range', `${head}briefing: { budget: 100001 }\nsteps: [${action}]`, undefined],
    ['out_of_range', loop('parallel: 65'), undefined],
    ['out_of_range', `${head}steps: [{ id: a, type: ralph, n: 1001, instructions: Do }]`, undefined],
    [
      'out_of_range',
      `${head}steps:\n${Array.from({ length: 201 }, (_, n) => `  - { id: s${n}, type: action, instructions: Do }`).join('\n')}`,
      undefined,
    ],
    ['wrong_step_type', step('n: 3'), 'type: ralph'],
    ['wrong_step_type', step('until: [{ run: x }]'), 'type: ralph'],
    ['wrong_step_type', step('parallel: 3'), 'type: loop'],
    ['not_on_loop', loop('gate: [{ run: x }]'), 'sub-steps, or add a step after the loop'],
    ['not_on_loop', loop('review: { by: human }'), 'add a step after the loop'],
    ['not_on_loop', loop('on_fail: retry'), 'add a step after the loop'],
    ['wrong_value', step('on_fail: skip'), undefined],
    ['gate_kind', gate('run: x, exists: y'), 'one gate for each'],
    ['gate_kind', gate('rerun: true'), 'run: npm test'],
    [
      'pivot_forward',
      `${head}steps: [{ id: a, type: action, instructions: Do, review: { by: human, on_pivot: b } }, { id: b, type: action, instructions: Do }]`,
      'goes back: a',
    ],
    ['not_on_loop', loop('read_only: true'), 'on its sub-steps'],
    ['not_on_loop', loop('attempts: 2'), 'on its sub-steps'],
    [
      'rerun_of_task',
      `${head}loops: { l: [{ id: s, instructions: Do, gate: [{ exists: "out/{task.id}", rerun: true }] }] }\nsteps: [{ id: l, type: loop }, ${action}]`,
      'belong to no task',
    ],
    ['only_with_run', gate('exists: x, timeout: 3'), undefined],
    ['only_with_run', gate('exists: x, expect: fail'), "Remove 'expect'"],
    ['only_with_run', gate('condition: "true", contains: x'), "Remove 'contains'"],
    ['only_with_run', gate('exists: x, baseline: true'), "Remove 'baseline'"],
    [
      'baseline_of_until',
      `${head}steps: [{ id: a, type: ralph, n: 2, instructions: Do, until: [{ run: x, baseline: true }] }]`,
      "add the command to 'gate'",
    ],
    ['wrong_value', gate('run: x, expect: fial'), "Did you mean 'fail'?"],
    ['wrong_value', gate('run: x, expect: pass'), 'Write fail.'],
    ['out_of_range', gate('run: x, contains: ""'), undefined],
    ['out_of_range', gate(`run: x, contains: ${'x'.repeat(1001)}`), undefined],
    ['rerun_of_failure', gate('run: x, expect: fail, rerun: true'), "without 'expect'"],
    [
      'rerun_after_loop',
      `${head}loops: { l: [{ id: s, instructions: Do, gate: [{ run: x, rerun: true }] }] }\nsteps: [{ id: l, type: loop }]`,
      'at the end',
    ],
    ['bad_condition', gate('condition: "inputs.x =="'), undefined],
    ['unknown_step', step('review: { by: human, on_pivot: b }'), 'Steps: a.'],
    ['unknown_step', `${head}steps: [${action}]\ntransitions: [{ from: a, to: c }]`, undefined],
    [
      'duplicate_transition',
      `${head}steps: [${action}]\ntransitions: [{ from: a, to: a }, { from: a, to: a }]`,
      undefined,
    ],
    ['duplicate_id', `${head}steps: [${action}, ${action}]`, undefined],
    ['input_clash', `${head}inputs: { a-b: {}, a_b: {} }\nsteps: [${action}]`, 'Rename'],
    ['wrong_type', `${head}inputs: { n: { type: number, default: x } }\nsteps: [${action}]`, undefined],
    ['wrong_type', input('type: number, enum: [1, x]'), 'Write type: string'],
    ['wrong_type', input('enum: [1]'), '"1"'],
    ['wrong_type', input('enum: [[a]]'), undefined],
    ['wrong_type', input('enum: a'), 'Begin each entry with -'],
    ['out_of_range', input('enum: []'), undefined],
    ['wrong_default', input('enum: [a, b], default: c'), 'one of a, b'],
    ['wrong_default', input('type: number, enum: [1, 2], default: 3'), 'one of 1, 2'],
    ['wrong_default', input('pattern: "[a-z]+", default: A'), 'matches'],
    ['wrong_value', input('pattern: "[a-z]+", enum: [a, B]'), 'one of them'],
    ['only_with_string', input('type: number, pattern: "1+"'), 'type: string'],
    ['bad_pattern', input('pattern: "a{2"'), 'backslash'],
    ['unsafe_pattern', input("pattern: '(?=a)a'"), 'Leave out'],
    ['unsafe_pattern', input("pattern: '(a)\\1'"), 'Leave out'],
    ['unsafe_pattern', input('pattern: "((a{99}){99}){99}"'), 'repeat less'],
    ['out_of_range', input(`pattern: ${'a'.repeat(201)}`), undefined],
    ['no_steps', head, 'extends'],
    ['empty', '# nothing\n', undefined],
    ['name_twice', `${head}id: y\nsteps: [${action}]`, undefined],
    ['needs_extends', `${head}remove: [a]\nsteps: [${action}]`, undefined],
    ['bad_path', `${head}todo_path: ../TODO.md\nsteps: [${action}]`, undefined],
    ['unknown_placeholder', `${head}todo_path: docs/{run}.md\nsteps: [${action}]`, 'fixed'],
  ])('a file with such a fault is refused with the code %s (%#)', (code, text, suggestion) => {
    const found = find(text, code);
    expect(found).toMatchObject({ severity: 'error' });
    if (suggestion !== undefined) expect(found?.suggestion).toContain(suggestion);
    expect(parse(text).definition).toBeUndefined();
  });
});

test('a transition that is never taken is a warning', () => {
  const steps = 'steps: [{ id: a, type: action, instructions: A }, { id: b, type: action, instructions: B }]';
  const warned = (from: string, to: string) =>
    parseWorkflow(
      `name: x\ndescription: y\n${steps}\ntransitions: [{ from: ${from}, to: ${to}, context: clear }]`,
      {
        file: 'x.yaml',
      },
    ).diagnostics;
  expect(warned('a', 'b')).toEqual([]);
  expect(warned('b', 'a')).toMatchObject([{ severity: 'warning', suggestion: "'b' is the last step." }]);
  expect(warned('a', 'a')).toMatchObject([{ code: 'transition_unused', suggestion: "After 'a' comes 'b'." }]);
});

describe('what people get wrong', () => {
  const found = (text: string) =>
    parseWorkflow(text, { file: 'x.yaml' }).diagnostics.map(({ line, code, suggestion }) => [
      line,
      code,
      suggestion,
    ]);
  const file = (step: string) =>
    `name: x\ndescription: y\nsteps:\n  - { id: a, type: action, instructions: Do, ${step} }\n`;

  test('one slip of the syntax is one error, and a tab is named', () => {
    const tabs = 'name: x\ndescription: y\nsteps:\n\t- id: a\n\t  type: action\n\t  instructions: Do\n';
    expect(found(tabs)).toEqual([[4, 'yaml', 'Indent with spaces.']]);
    const conflict = `name: x\n<<<<<<< HEAD\ndescription: y\n=======\ndescription: z\n>>>>>>> other\nsteps: []\n`;
    expect(found(conflict)).toHaveLength(1);
  });

  test('a person is not replaced by an agent through a slip of the pen', () => {
    expect(found(file('review: { by: Human }'))).toEqual([[4, 'unknown_reviewer', "Did you mean 'human'?"]]);
    expect(found(file('review: { by: humans }'))).toEqual([[4, 'unknown_reviewer', "Did you mean 'human'?"]]);
  });

  test('a shorthand is answered with the long form', () => {
    expect(found(file('review: human'))).toEqual([[4, 'wrong_type', 'Write review: { by: human }']]);
    expect(found(file('gate: npm test'))).toEqual([[4, 'wrong_type', 'Write gate: [{ run: "npm test" }]']]);
    expect(found(file('gate: [npm test]'))).toEqual([[4, 'wrong_type', 'Write gate: [{ run: "npm test" }]']]);
    expect(found(file('artefacts: yes'))).toEqual([[4, 'wrong_type', 'Write true or false.']]);
    expect(found(file('attempts: "3"'))).toEqual([
      [4, 'wrong_type', expect.stringContaining('without quotes')],
    ]);
  });

  test('advice quotes what was written, not what YAML made of it', () => {
    const input =
      'name: x\ndescription: y\nvariables: {}\nsteps: [{ id: a, type: action, instructions: 1.10 }]\n';
    expect(found(input)).toEqual([[4, 'wrong_type', 'Put it in quotes: "1.10"']]);
    const reading = 'name: x\ndescription: y\nrequired_reading: [@docs/a.md, @docs/b.md]\nsteps: []\n';
    expect(found(reading)).toEqual([[3, 'yaml', 'Put it in quotes: "@docs/a.md"']]);
    expect(found(file('gate: [{ run: ! grep x }]'))).toEqual([
      [4, 'tag', expect.stringContaining('"! grep x }] }"')],
    ]);
  });

  test('files of a gate stay in the project and have no @', () => {
    expect(found(file('gate: [{ exists: ../x }]'))).toMatchObject([[4, 'bad_path', expect.anything()]]);
    expect(found(file('gate: [{ run: make, writes: [/etc] }]'))).toMatchObject([
      [4, 'bad_path', expect.anything()],
    ]);
    expect(found(file('gate: [{ read: ["@docs/a.md"] }]'))).toEqual([[4, 'bad_path', 'Write "docs/a.md"']]);
  });

  test('a misspelt head key is one error', () => {
    expect(found('nmae: x\ndescription: y\nsteps: [{ id: a, type: action, instructions: Do }]')).toEqual([
      [1, 'unknown_key', "Did you mean 'name'?"],
    ]);
    expect(found('name: x\ndescription: y\nstep: [{ id: a, type: action, instructions: Do }]')).toEqual([
      [3, 'unknown_key', "Did you mean 'steps'?"],
    ]);
  });

  test('a base that is not found is one error', () => {
    expect(
      found('name: x\ndescription: y\nextends: featur\nsteps: [{ id: plan, context: clear }]'),
    ).toMatchObject([[3, 'unknown_base', expect.anything()]]);
  });

  test('a condition that is no CEL says what CEL is', () => {
    expect(found(file('gate: [{ condition: outputs.a != null and true }]'))).toMatchObject([
      [4, 'bad_condition', expect.stringContaining('&&')],
    ]);
  });
});
