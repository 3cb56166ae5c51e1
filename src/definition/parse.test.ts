import { describe, expect, test } from 'vitest';
import { formatDiagnostic } from './diagnostics.ts';
import { hashDefinition } from './hash-definition.ts';
import { parseWorkflow } from './parse.ts';

const head = 'name: x\ndescription: x\n';
const action = '{ id: a, type: action, instructions: Do }';

const parse = (text: string) => parseWorkflow(text, { file: 'x.yaml' });
const find = (text: string, code: string) =>
  parse(text).diagnostics.find((diagnostic) => diagnostic.code === code);
const definitionOf = (text: string) => {
  const { definition, diagnostics } = parse(text);
  if (definition === undefined) throw new Error(diagnostics.map(formatDiagnostic).join('\n'));
  return definition;
};

describe('what a file may hold', () => {
  test('[000/8] steps are of type action, loop and ralph, with agent, artefacts and on_fail', () => {
    const definition = definitionOf(`${head}
agents: { coder: { description: Codes } }
loops: { build: [{ id: code, agent: coder, instructions: Do, on_fail: skip }] }
steps:
  - { id: plan, type: action, agent: coder, artefacts: true, instructions: Plan, on_fail: abort }
  - { id: build, type: loop }
  - { id: polish, type: ralph, n: 5, instructions: Polish, on_fail: retry }
`);
    expect(definition.steps).toEqual([
      { id: 'plan', type: 'action', agent: 'coder', artefacts: true, instructions: 'Plan', on_fail: 'abort' },
      { id: 'build', type: 'loop', loop: 'build' },
      { id: 'polish', type: 'ralph', n: 5, instructions: 'Polish', on_fail: 'retry' },
    ]);
    expect(definition.loops).toEqual({
      build: [{ id: 'code', agent: 'coder', instructions: 'Do', on_fail: 'skip' }],
    });
  });

  test.each(['planning', 'qa-loop', 'implementation', 'custom'])(
    '[002/1] a workflow may be of type %s',
    (type) => {
      expect(definitionOf(`${head}type: ${type}\nsteps: [${action}]`).type).toBe(type);
    },
  );

  test('[002/1] required reading, key reminders, variables and gates are read', () => {
    const definition = definitionOf(`${head}
required_reading: ["@CLAUDE/Plan/PLAN.md", "@docs/x.md"]
key_reminders: [Run the tests, "Ask {input.who} first"]
inputs: { who: { default: me } }
variables: { plan_id: auth, round: 3, strict: true }
steps: [{ id: a, type: action, instructions: Do, gate: [{ run: npm test, paths: [src], timeout: 60 }, { read: ["docs/x.md"] }] }]
`);
    expect(definition).toMatchObject({
      required_reading: ['@CLAUDE/Plan/PLAN.md', '@docs/x.md'],
      key_reminders: ['Run the tests', 'Ask {input.who} first'],
      variables: { plan_id: 'auth', round: 3, strict: true },
      steps: [{ gate: [{ run: 'npm test', paths: ['src'], timeout: 60 }, { read: ['docs/x.md'] }] }],
    });
  });

  test('[002/3] required reading without @ is an error that shows the corrected line', () => {
    const found = find(
      `${head}required_reading:\n  - "@docs/a.md"\n  - docs/x.md\nsteps: [${action}]`,
      'reading_without_at',
    );
    expect(found).toMatchObject({ severity: 'error', line: 5, column: 5, suggestion: 'Write "@docs/x.md"' });
  });

  test('[002/3] required reading with @ but without quotes is told how to be written', () => {
    const found = find(`${head}required_reading:\n  - @docs/x.md\nsteps: [${action}]`, 'yaml');
    expect(found).toMatchObject({ line: 4, column: 5, suggestion: 'Put it in quotes: "@docs/x.md"' });
  });

  test('[004/10] a workflow without anything new loads without a word', () => {
    expect(parse(`${head}steps: [${action}]`).diagnostics).toEqual([]);
  });

  test('every other key of the format is read', () => {
    const text = `${head}
briefing: { budget: 2500 }
boundaries: require
stop: hold
keep: false
todo_path: TODO.md
agents: { r: { description: R, model: fast, tools: [Read], cannot: [Write], permissions: plan } }
loops: { l: [{ id: s, instructions: '{task.id}', read_only: true, attempts: 2, gate: [{ exists: '{task.id}.md' }] }] }
steps:
  - { id: l, type: loop, parallel: 3, budget: { turns: 1, tokens: 2, minutes: 3, on_pivot: l } }
  - { id: p, type: ralph, n: 2, instructions: P, until: [{ run: x, writes: [a], rerun: true }], review: { by: r, on_pivot: l } }
transitions: [{ from: l, to: p, context: clear }]
`;
    const { definition, hash, diagnostics } = parse(text);
    expect(diagnostics).toEqual([]);
    expect(JSON.parse(JSON.stringify(definition))).toEqual(definition);
    expect(hash).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(definition && hashDefinition(definition)).toBe(hash);
  });

  test('the hash does not depend on the order of keys or on comments, but on every value', () => {
    const hash = (text: string) => parse(text).hash;
    const one = hash(`name: x\ndescription: d\nsteps: [${action}]`);
    expect(
      hash(`# c\ndescription: d\nname: x\nsteps:\n  - instructions: Do\n    type: action\n    id: a\n`),
    ).toBe(one);
    expect(hash(`name: x\ndescription: e\nsteps: [${action}]`)).not.toBe(one);
  });

  test('a missing description becomes the name, with a warning', () => {
    const { definition, diagnostics } = parse(`name: x\nsteps: [${action}]`);
    expect(definition?.description).toBe('x');
    expect(diagnostics.map(({ severity, code }) => [severity, code])).toEqual([
      ['warning', 'no_description'],
    ]);
  });

  test('a ralph step without n runs once, with a warning', () => {
    const { definition, diagnostics } = parse(`${head}steps: [{ id: a, type: ralph, instructions: Do }]`);
    expect(definition?.steps[0]?.n).toBe(1);
    expect(diagnostics.map(({ code }) => code)).toEqual(['n_missing']);
  });

  test('an unknown agent is a warning, because the host may have it', () => {
    const text = `${head}agents: { coder: { description: C } }\nsteps: [{ id: a, type: action, agent: codr, instructions: Do, review: { by: human } }]`;
    expect(parse(text).definition).toBeDefined();
    expect(find(text, 'unknown_agent')).toMatchObject({
      severity: 'warning',
      suggestion: "Did you mean 'coder'? Declare it under agents, or it must exist in the host.",
    });
  });
});

describe('loops', () => {
  const loops = (ids: string[]) =>
    `loops: { ${ids.map((id) => `${id}: [{ id: s, instructions: Do }]`).join(', ')} }\n`;

  test('the only free loop is taken by a step that names none, with a warning', () => {
    const text = `${head}${loops(['one', 'two'])}steps: [{ id: one, type: loop }, { id: other, type: loop }]`;
    expect(definitionOf(text).steps.map((step) => step.loop)).toEqual(['one', 'two']);
    expect(find(text, 'loop_guessed')).toMatchObject({ severity: 'warning' });
  });

  test('a loop step may name its loop', () => {
    const text = `${head}${loops(['one', 'two'])}steps: [{ id: a, type: loop, loop: two }, { id: b, type: loop, loop: one }]`;
    expect(definitionOf(text).steps.map((step) => step.loop)).toEqual(['two', 'one']);
    expect(parse(text).diagnostics).toEqual([]);
  });

  test('two steps without a loop of their own guess nothing', () => {
    const text = `${head}${loops(['build'])}steps: [{ id: buld, type: loop }, { id: other, type: loop }]`;
    expect(find(text, 'unknown_loop')).toMatchObject({
      severity: 'error',
      suggestion: "Did you mean 'build'?",
    });
  });

  test('a loop that two steps use is an error, one that none uses a warning', () => {
    expect(
      find(
        `${head}${loops(['a'])}steps: [{ id: a, type: loop }, { id: b, type: loop, loop: a }]`,
        'loop_used_twice',
      ),
    ).toMatchObject({ severity: 'error' });
    expect(find(`${head}${loops(['a', 'b'])}steps: [{ id: a, type: loop }]`, 'loop_unused')).toMatchObject({
      severity: 'warning',
    });
  });
});

describe('placeholders', () => {
  const step = (instructions: string) =>
    `${head}inputs: { issue: {} }\nsteps:\n  - id: plan\n    type: action\n    instructions: ${instructions}\n`;

  test('the known ones are accepted, and doubled braces are text', () => {
    const text = step(
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a shell variable
      "'{input.issue} {outputs.plan} {outputs.plan.1} {iteration} {project_root} {run_id} {plan_id} {summary} {{any}} ${HOME}'",
    );
    expect(parse(text).diagnostics).toEqual([]);
  });

  test('an unknown one is found at its line and column inside a block of text', () => {
    expect(find(step('|\n      First line\n      and {sumary} here'), 'unknown_placeholder')).toMatchObject({
      severity: 'error',
      line: 9,
      column: 11,
      suggestion: "Did you mean 'summary'? Write {{sumary}} for literal braces.",
    });
  });

  test('it is found in quoted and folded text too', () => {
    expect(find(step('"a {nope} b"'), 'unknown_placeholder')).toMatchObject({ line: 7, column: 22 });
    expect(find(step('>\n      one\n      {nope}'), 'unknown_placeholder')).toMatchObject({
      line: 9,
      column: 7,
    });
  });

  test.each([
    ['{task.title}', 'only in the sub-steps of a loop'],
    ['{input.isue}', 'not declared'],
    ['{outputs.pln}', 'does not exist'],
    ['{task.name}', 'Unknown placeholder'],
  ])('%s on a main step is an error', (placeholder, message) => {
    expect(find(step(`'${placeholder}'`), 'unknown_placeholder')?.message).toContain(message);
  });

  test('a placeholder in run is refused, with the way values get there', () => {
    const gate = (run: string) =>
      `${head}steps: [{ id: a, type: action, instructions: Do, gate: [{ run: '${run}' }] }]`;
    expect(find(gate('echo {task.id}'), 'placeholder_in_run')?.suggestion).toContain('STEPFAST_TASK_ID');
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a shell variable
    expect(parse(gate('echo ${HOME} | awk {print} # {foo}')).diagnostics).toEqual([]);
  });
});

describe('critical artifacts', () => {
  const artifact = (fields: string) =>
    `${head}critical_artifacts: { always_load: [{ id: s, ${fields} }] }\nsteps: [${action}]`;

  test.each(['json', 'markdown', 'directory', 'work_plugin', 'skill'])(
    '[004/1] an artifact may be of type %s',
    (type) => {
      expect(parse(artifact(`type: ${type}, path: a`)).diagnostics).toEqual([]);
    },
  );

  test('[004/1] an artifact of type git_info needs no path', () => {
    expect(parse(artifact('type: git_info, description: Branch, required: false')).diagnostics).toEqual([]);
    expect(find(artifact('type: json'), 'artifact_origin')).toMatchObject({ severity: 'error' });
    expect(find(artifact('type: json, path: a, path_from_state: b'), 'artifact_origin')).toMatchObject({
      severity: 'error',
    });
  });

  test('[004/2] path with placeholders, path_from_state, command and condition are read', () => {
    const text = `${head}critical_artifacts:
  always_load:
    - { id: a, type: json, path: '{project_root}/runs/{run_id}/{plan_id}.json' }
    - { id: b, type: work_plugin, command: '/work:fetch {summary}' }
  conditional_load:
    - { id: c, type: markdown, path_from_state: artifacts.spec_path, condition: 'state.artifacts.spec_path !== null' }
steps: [${action}]`;
    expect(parse(text).diagnostics).toEqual([]);
    expect(definitionOf(text).critical_artifacts?.conditional_load?.[0]?.path_from_state).toBe(
      'artifacts.spec_path',
    );
  });

  test('[004/14] a command is a slash command, anything else is refused', () => {
    expect(find(artifact('type: work_plugin, command: curl example.org'), 'not_slash_command')).toMatchObject(
      { severity: 'error' },
    );
    expect(parse(artifact('type: work_plugin, command: /work:fetch')).diagnostics).toEqual([]);
  });

  test.each(['session_start', 'phase_start:a', 'phase_transition', 'phase_transition:a->a', 'manual'])(
    '[004/3] %s is a reload trigger',
    (trigger) => {
      expect(parse(artifact(`type: json, path: a, reload_triggers: ['${trigger}']`)).diagnostics).toEqual([]);
    },
  );

  test('[004/3] a trigger of another form is an error, one that names an unknown phase a warning', () => {
    const trigger = (text: string) =>
      artifact(`type: json, path: a, reload_triggers: ['${text}']`).replaceAll('id: a,', 'id: build,');
    expect(find(trigger('sesion_start'), 'bad_trigger')).toMatchObject({
      severity: 'error',
      suggestion: "Did you mean 'session_start'?",
    });
    expect(find(trigger('phase_start:biuld'), 'unknown_phase')).toMatchObject({
      severity: 'warning',
      suggestion: "Did you mean 'build'?",
    });
  });

  test.each(['/etc/passwd', '../x', 'a/../../x', 'C:\\x', '~/x', '{project_root}/../x', '\\\\host\\x'])(
    'the path %s is refused',
    (path) => {
      expect(find(artifact(`type: json, path: '${path}'`), 'bad_path')).toMatchObject({ severity: 'error' });
    },
  );
});

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
  const loop = (fields: string) =>
    `${head}loops: { a: [{ id: s, instructions: Do }] }\nsteps: [{ id: a, type: loop, ${fields} }]`;
  test.each([
    ['unknown_key', step('instructons: x'), "Did you mean 'instructions'?"],
    ['missing_key', 'description: x\nsteps: []', 'name:'],
    ['missing_key', `${head}steps: [{ id: a, instructions: Do }]`, 'type: action'],
    ['wrong_type', step('artefacts: maybe'), undefined],
    ['wrong_type', `${head}steps: [{ id: a, type: action, instructions: { task.title } }]`, 'in quotes'],
    ['wrong_type', `${head}agents:\nsteps: [${action}]`, 'take the key away'],
    ['wrong_type', step('gate: { run: npm test }'), 'Begin each entry with -'],
    ['wrong_value', `${head}boundaries: require_\nsteps: [${action}]`, "Did you mean 'require'?"],
    ['bad_id', `${head}steps: [{ id: 'a b', type: action, instructions: Do }]`, 'letters'],
    ['bad_id', `${head}steps: [{ id: toString, type: action, instructions: Do }]`, 'another id'],
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
    [
      'rerun_after_loop',
      `${head}loops: { l: [{ id: s, instructions: Do, gate: [{ run: x, rerun: true }] }] }\nsteps: [{ id: l, type: loop }]`,
      'action step',
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
    ['no_steps', head, 'extends'],
    ['empty', '# nothing\n', undefined],
    ['name_twice', `${head}id: y\nsteps: [${action}]`, undefined],
    ['needs_extends', `${head}remove: [a]\nsteps: [${action}]`, undefined],
    ['bad_path', `${head}todo_path: ../TODO.md\nsteps: [${action}]`, undefined],
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
