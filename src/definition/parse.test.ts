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
      { id: 'polish', type: 'ralph', n: 5, instructions: 'Polish', on_fail: { retry: 5, then: 'wait' } },
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
    expect(parse(text).diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
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
