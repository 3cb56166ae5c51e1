import { describe, expect, test } from 'vitest';
import { parseWorkflow } from './parse.ts';

const base = `name: base
description: Base
key_reminders: [One, Two]
variables: { a: 1, b: 2 }
agents: { coder: { description: Codes, cannot: [Write] } }
loops: { build: [{ id: code, instructions: Code }, { id: test, instructions: Test }] }
steps:
  - { id: plan, type: action, instructions: Plan, budget: { turns: 5, minutes: 10 }, gate: [{ exists: A.md }, { exists: B.md }] }
  - { id: build, type: loop }
  - { id: done, type: action, instructions: Done }
`;

function parse(text: string, files: Record<string, string> = { base }) {
  return parseWorkflow(text, {
    file: 'main.yaml',
    findBase: (name) => (files[name] === undefined ? undefined : { text: files[name], file: `${name}.yaml` }),
  });
}
const codes = (text: string, files?: Record<string, string>) =>
  parse(text, files).diagnostics.map(({ code }) => code);

describe('extends', () => {
  test('maps merge and lists replace', () => {
    const { definition, diagnostics } = parse(`name: heir
extends: base
key_reminders: [Three]
variables: { b: 3, c: 4 }
agents: { coder: { model: fast } }
`);
    expect(diagnostics).toEqual([]);
    expect(definition).toMatchObject({
      name: 'heir',
      description: 'Base',
      key_reminders: ['Three'],
      variables: { a: 1, b: 3, c: 4 },
      agents: { coder: { description: 'Codes', cannot: ['Write'], model: 'fast' } },
    });
  });

  test('sub-steps merge by id as steps do', () => {
    const { definition, diagnostics } = parse(`name: heir
extends: base
remove: [build/test]
loops:
  build:
    - { id: code, gate: [{ run: npm test }] }
    - { id: plan, after: code, instructions: Plan the next }
    - { id: last, instructions: Last }
  other: [{ id: new, instructions: New }]
`);
    expect(diagnostics.map(({ code }) => code)).toEqual(['loop_unused']);
    expect(definition?.loops).toEqual({
      build: [
        { id: 'code', instructions: 'Code', gate: [{ run: 'npm test' }] },
        { id: 'plan', instructions: 'Plan the next' },
        { id: 'last', instructions: 'Last' },
      ],
      other: [{ id: 'new', instructions: 'New' }],
    });
    expect(codes('name: x\nextends: base\nremove: [build/tset]')).toEqual(['unknown_step']);
    expect(
      codes('name: x\nextends: base\nloops: { build: [{ id: n, after: cod, instructions: N }] }'),
    ).toEqual(['unknown_step']);
    expect(
      codes('name: x\nextends: base\nloops: { other: [{ id: n, after: code, instructions: N }] }'),
    ).toContain('unknown_step');
  });

  test('a known step merges in place, key by key', () => {
    const { definition } = parse(`name: heir
extends: base
steps: [{ id: plan, context: clear, budget: { turns: 9 }, gate: [{ exists: C.md }] }]
`);
    expect(definition?.steps.map(({ id }) => id)).toEqual(['plan', 'build', 'done']);
    expect(definition?.steps[0]).toEqual({
      id: 'plan',
      type: 'action',
      instructions: 'Plan',
      context: 'clear',
      budget: { turns: 9, minutes: 10 },
      gate: [{ exists: 'C.md' }],
    });
  });

  test('new steps go to the end or after the step they name, in the order in which they are written', () => {
    const step = (id: string, rest = '') => `  - { id: ${id}, type: action, instructions: Do${rest} }\n`;
    const { definition, diagnostics } = parse(
      `name: heir\nextends: base\nsteps:\n${step('last')}${step('one', ', after: plan')}${step('two', ', after: plan')}${step('three', ', after: one')}${step('four', ', after: last')}`,
    );
    expect(diagnostics).toEqual([]);
    expect(definition?.steps.map(({ id }) => id)).toEqual([
      'plan',
      'one',
      'three',
      'two',
      'build',
      'done',
      'last',
      'four',
    ]);
    expect(JSON.stringify(definition)).not.toContain('after');
  });

  test('remove leaves steps out', () => {
    const { definition, diagnostics } = parse('name: heir\nextends: base\nremove: [plan]\n');
    expect(diagnostics).toEqual([]);
    expect(definition?.steps.map(({ id }) => id)).toEqual(['build', 'done']);
    expect(definition).not.toHaveProperty('extends');
    expect(definition).not.toHaveProperty('remove');
  });

  test('a removed step can be written anew', () => {
    const { definition } = parse(
      'name: heir\nextends: base\nremove: [plan]\nsteps: [{ id: plan, type: action, instructions: New }]\n',
    );
    expect(definition?.steps.at(-1)).toEqual({ id: 'plan', type: 'action', instructions: 'New' });
  });

  test('a chain of files is followed', () => {
    const files = { base, middle: 'name: middle\nextends: base\nvariables: { a: 7 }\nremove: [done]\n' };
    const { definition } = parse('name: heir\nextends: middle\n', files);
    expect(definition).toMatchObject({ name: 'heir', variables: { a: 7, b: 2 } });
    expect(definition?.steps).toHaveLength(2);
  });

  test('the result is the same as if it had been written in one file', () => {
    const heir = parse('name: base\nextends: base\n');
    expect(heir.hash).toBe(parse(base).hash);
  });

  test('a name is never inherited', () => {
    expect(codes('extends: base\n')).toEqual(['missing_key']);
  });
});

describe('what is wrong with extends', () => {
  test.each([
    ['unknown_base', 'name: x\nextends: none\n'],
    ['wrong_type', 'name: x\nextends: [base]\n'],
    ['unknown_step', 'name: x\nextends: base\nremove: [paln]\n'],
    [
      'unknown_step',
      'name: x\nextends: base\nsteps: [{ id: n, type: action, instructions: Do, after: nowhere }]\n',
    ],
    [
      'unknown_step',
      'name: x\nextends: base\nremove: [plan]\nsteps: [{ id: n, type: action, instructions: Do, after: plan }]\n',
    ],
    [
      'unknown_step',
      'name: x\nextends: base\nsteps: [{ id: n, type: action, instructions: Do, after: n }]\n',
    ],
    ['after_known', 'name: x\nextends: base\nsteps: [{ id: done, after: plan }]\n'],
    [
      'duplicate_id',
      'name: x\nextends: base\nsteps: [{ id: plan, context: clear }, { id: plan, context: compact }]\n',
    ],
  ])('%s is an error (%#)', (code, text) => {
    const { definition, diagnostics } = parse(text);
    expect(definition).toBeUndefined();
    expect(diagnostics.map((diagnostic) => diagnostic.code)).toContain(code);
  });

  test('an unknown id in remove is given a suggestion', () => {
    expect(parse('name: x\nextends: base\nremove: [paln]\n').diagnostics[0]).toMatchObject({
      line: 3,
      column: 10,
      suggestion: "Did you mean 'plan'?",
    });
  });

  test('a circle is an error that shows the way round', () => {
    const files = { a: 'name: a\nextends: b\n', b: 'name: b\nextends: a\n' };
    const [first] = parse('name: x\nextends: a\n', files).diagnostics;
    expect(first).toMatchObject({ code: 'extends_cycle', file: 'b.yaml' });
    expect(first?.message).toContain('main.yaml -> a.yaml -> b.yaml -> a.yaml');
  });

  test('a chain of more than eight files is an error', () => {
    const files = Object.fromEntries(
      Array.from({ length: 12 }, (_, n) => [`f${n}`, `name: f${n}\nextends: f${n + 1}\n`]),
    );
    expect(codes('name: x\nextends: f0\n', files)).toEqual(['extends_too_long']);
  });

  test('a fault is shown in the file where it is written', () => {
    const files = { base: base.replace('instructions: Done', 'instructions: Done, contxt: clear') };
    expect(
      parse('name: x\nextends: base\nsteps: [{ id: plan, context: warm }]\n', files).diagnostics,
    ).toMatchObject([
      { file: 'main.yaml', line: 3, code: 'wrong_value' },
      { file: 'base.yaml', line: 10, code: 'unknown_key' },
    ]);
  });

  test('when the base is missing, the shape of the file is still checked, but nothing that the base may hold', () => {
    expect(
      codes(
        'name: x\nextends: none\nfoo: 1\nsteps: [{ id: a, type: action, instructions: "{outputs.plan}" }]\n',
      ),
    ).toEqual(['unknown_base', 'unknown_key']);
  });
});

describe('a base', () => {
  // The example configuration of the context management specification, in this project's own words.
  const example = `{
  "id": "default",
  "critical_artifacts": {
    "always_load": [
      { "id": "run-state", "type": "json", "path": "runs/{run_id}/state.json", "required": true, "reload_triggers": ["session_start", "phase_transition"] },
      { "id": "run-plan", "type": "json", "path": "plans/{plan_id}.json", "required": true, "reload_triggers": ["session_start"] }
    ],
    "conditional_load": [
      { "id": "spec", "type": "markdown", "path_from_state": "artifacts.spec_path", "condition": "state.artifacts.spec_path != null",
        "reload_triggers": ["session_start", "phase_transition:architect->build"] }
    ]
  }
}`;

  test('[004/13] a configuration with id, without steps, descriptions and required loads as a base', () => {
    const { definition, diagnostics } = parseWorkflow(example, { file: 'default.json', base: true });
    expect(definition).toMatchObject({ name: 'default', description: 'default', steps: [] });
    expect(definition?.critical_artifacts?.conditional_load).toEqual([
      {
        id: 'spec',
        type: 'markdown',
        path_from_state: 'artifacts.spec_path',
        condition: 'state.artifacts.spec_path != null',
        reload_triggers: ['session_start', 'phase_transition:architect->build'],
      },
    ]);
    expect(
      diagnostics.every(({ severity, code }) => severity === 'warning' && code === 'unknown_phase'),
    ).toBe(true);
  });

  test('[M6] phases are steps, pre_steps come before and post_steps after them', () => {
    const { definition, diagnostics } = parse(
      `name: x
description: x
phases:
  frame:
    pre_steps: [{ id: look, prompt: Look around., description: Before anything else }]
  architect: { description: Write the specification., gate: [{ exists: SPEC.md }] }
  skipped: { enabled: false }
  build: { prompt: /our-plugin:build --fast, post_steps: [{ id: tidy, prompt: Tidy up. }] }
`,
    );
    expect(diagnostics).toEqual([]);
    expect(definition).not.toHaveProperty('phases');
    expect(definition?.steps).toEqual([
      { id: 'look', type: 'action', instructions: 'Look around.\n\nBefore anything else' },
      { id: 'frame', type: 'action', instructions: expect.any(String) },
      {
        id: 'architect',
        type: 'action',
        instructions: 'Write the specification.',
        gate: [{ exists: 'SPEC.md' }],
      },
      {
        id: 'build',
        type: 'action',
        instructions: expect.stringContaining('/our-plugin:build --fast'),
      },
      { id: 'tidy', type: 'action', instructions: 'Tidy up.' },
    ]);
  });

  test('[M6] pre_steps of a phase of the base come before it', () => {
    const step = (id: string) => `{ id: ${id}, type: action, instructions: Do }`;
    const base = `name: base\ndescription: b\nsteps: [${step('frame')}, ${step('build')}]\n`;
    const { definition, diagnostics } = parse(
      'name: x\ndescription: x\nextends: base\nphases: { frame: { pre_steps: [{ id: reload, prompt: "/f:prime-context" }] } }\n',
      { base },
    );
    expect(diagnostics).toEqual([]);
    expect(definition?.steps.map(({ id }) => id)).toEqual(['reload', 'frame', 'build']);
    expect(definition?.steps[0]?.instructions).toContain('workflow_context');
    expect(definition?.steps[1]?.instructions).toBe('Do');
  });

  test('[M6] post_steps of a phase of the base come right after it, those of a new phase after that one', () => {
    const step = (id: string) => `{ id: ${id}, type: action, instructions: Do }`;
    const base = `name: base\ndescription: b\nsteps: [${['frame', 'build', 'done'].map(step).join(', ')}]\n`;
    const ids = (more: string, phases: string) => {
      const text = `name: x\ndescription: x\nextends: base\n${more}phases: { ${phases} }\n`;
      const { definition, diagnostics } = parse(text, { base });
      expect(diagnostics).toEqual([]);
      return definition?.steps.map(({ id }) => id);
    };
    const two = '{ post_steps: [{ id: tidy, prompt: Tidy. }, { id: note, prompt: Note. }] }';
    expect(ids('', `build: ${two}`)).toEqual(['frame', 'build', 'tidy', 'note', 'done']);
    expect(ids('', `release: ${two}`)).toEqual(['frame', 'build', 'done', 'release', 'tidy', 'note']);
    const after = '{ post_steps: [{ id: tidy, prompt: Tidy., after: frame }] }';
    expect(ids('', `build: ${after}`)).toEqual(['frame', 'tidy', 'build', 'done']);
    const both = '{ pre_steps: [{ id: look, prompt: Look. }], post_steps: [{ id: tidy, prompt: Tidy. }] }';
    expect(ids('remove: [frame]\n', `frame: ${both}`)).toEqual(['build', 'done', 'look', 'frame', 'tidy']);
  });

  test('[M6] phases beside steps are refused', () => {
    const text =
      'name: x\ndescription: x\nsteps: [{ id: a, type: action, instructions: A }]\nphases: { b: {} }\n';
    expect(parse(text).diagnostics).toMatchObject([{ code: 'phases_and_steps', severity: 'error' }]);
  });

  test('[004/13] a workflow extends it, and its phases are then known', () => {
    const step = (id: string) => `{ id: ${id}, type: action, instructions: Do }`;
    const { definition, diagnostics } = parse(
      `name: x\ndescription: x\nextends: faber\nsteps: [${step('architect')}, ${step('build')}]\n`,
      { faber: example },
    );
    expect(diagnostics).toEqual([]);
    expect(definition?.critical_artifacts?.always_load).toHaveLength(2);
    expect(definition).not.toHaveProperty('id');
  });

  test('on its own it is refused, with what it is good for', () => {
    expect(parse(example).diagnostics[0]).toMatchObject({ code: 'no_steps', severity: 'error' });
  });

  test('it may refer to steps and inputs that its heirs add', () => {
    const text =
      'name: b\nsteps: [{ id: a, type: action, instructions: "{input.x} {outputs.later}", review: { by: human, on_pivot: later } }]\n';
    const { definition, diagnostics } = parseWorkflow(text, { file: 'b.yaml', base: true });
    expect(definition).toBeDefined();
    expect(diagnostics.map(({ severity }) => severity)).toEqual(['warning', 'warning', 'warning']);
  });
});
