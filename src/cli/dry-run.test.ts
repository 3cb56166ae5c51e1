import { expect, test } from 'vitest';
import { createTestFolder } from '../testing/index.ts';

const workflow = `
name: demo
description: A workflow for a test
inputs:
  issue: { type: string, required: true }
  level: { type: number }
  loud: { type: boolean }
loops:
  build:
    - id: code
      context: clear
      on_fail: retry
      instructions: Code {task.title}
      gate: [{ run: npm test }]
steps:
  - id: plan
    type: action
    instructions: |
      Plan {input.issue} at {input.level}, {input.loud}
      and more
    review: { by: human, on_pivot: plan }
    budget: { turns: 60 }
  - { id: build, type: loop }
  - { id: end, type: action, instructions: End }
`;

const project = (files: Record<string, string> = {}) => createTestFolder({ 'demo.yaml': workflow, ...files });

test('prints every position, context action, gate and verdict of a successful run', async () => {
  using here = project();
  const { code, stdout } = await here.run([
    'dry-run',
    'demo.yaml',
    '--input',
    'issue=login',
    '--input',
    'level=3',
  ]);
  expect(code).toBe(0);
  expect(stdout).toBe(`demo  A workflow for a test

● plan#1
    Plan login at 3, false
    · review by a person
    ✓ approve
    ✓ done  unverified

● build#1
    · tasks task-1, task-2

● build/task-1/code#1
    /clear requested (prefer)
    ✓ clear observed by hook
    Code Task 1
    ✓ gate npm test
    ✓ done

● build/task-2/code#1
    /clear requested (prefer)
    ✓ clear observed by hook
    Code Task 2
    ✓ gate npm test
    ✓ done

● end#1
    End
    ✓ done  unverified

✓ complete  5 positions, 2 context actions, 2 gates, 1 verdict, 0 refusals
`);
});

test('a script plays its moves first, and refusals are printed', async () => {
  using here = project({
    'script.yaml': `
- advance: A plan
- review: revise
  feedback: Say why
- advance: A better plan
- review: approve
- advance: Too early
- tasks: [a]
- advance: Unread
- advance: Coded
- advance: Coded
- gates: red
- fail: It does not work
- ask: Which way?
- answer: The left one
- spend: 3
- rewind: plan
- status: true
`,
  });
  const { code, stdout } = await here.run(['dry-run', 'demo.yaml', '--script', 'script.yaml']);
  expect(code).toBe(0);
  for (const line of [
    '· revise: Say why',
    '● plan#2  revise',
    '✗ refused advance · needs_tasks',
    '✗ refused advance · not_briefed',
    '✗ gate npm test',
    '✗ failed: It does not work',
    '● build/a/code#2  retry',
    '? question Which way?',
    '✓ answer The left one',
    '· rewound to plan',
    '● plan#3',
  ]) {
    expect(stdout).toContain(line);
  }
  expect(stdout).toMatch(/✓ complete {2}.*, 2 refusals/);
});

test('the same seed injects the same failures, and another seed injects others', async () => {
  using here = project();
  const play = async (...args: string[]) => (await here.run(['dry-run', 'demo.yaml', ...args])).stdout;
  expect(await play('--seed', '3')).toBe(await play('--seed', '3'));
  const walks = await Promise.all(
    ['1', '2', '3', '4', '5', '6', '7', '8'].map((seed) => play('--seed', seed)),
  );
  expect(new Set(walks).size).toBeGreaterThan(5);
  expect(walks.join('')).toMatch(/refused|failed|✗ gate/);
  for (const walk of walks) expect(walk).toMatch(/\n. (complete|failed) {2}/);
});

test('full instructions, the number of tasks and JSON are options', async () => {
  using here = project();
  const { stdout } = await here.run(['dry-run', 'demo.yaml', '--instructions', '--tasks', '0']);
  expect(stdout).toContain('Plan <issue> at 1, false\n    and more\n');
  expect(stdout).toContain('· tasks none');
  const json = await here.run(['dry-run', 'demo.yaml', '--json']);
  const document = JSON.parse(json.stdout);
  expect(document).toMatchObject({ workflow: 'demo', status: 'complete' });
  expect(document.moves[0]).toMatchObject({ command: { type: 'start' }, reply: { step: 'plan' } });
  expect(document.moves.at(-1).events.at(-1)).toMatchObject({ type: 'run.completed' });
});

test('invalid options and scripts are usage errors', async () => {
  using here = project({ 'odd.yaml': '- {jump: 1}', 'map.yaml': 'a: 1', 'kind.yaml': '- tasks: a' });
  const fails = async (...args: string[]) => {
    const { code, stderr } = await here.run(['dry-run', 'demo.yaml', ...args]);
    return `${code} ${stderr}`;
  };
  expect(await fails('--tasks', 'many')).toMatch(/^2 .*--tasks takes an integer, not 'many'/s);
  expect(await fails('--script', 'odd.yaml')).toMatch(
    /^2 .*Move 1 of 'odd.yaml' must have one of: advance, fail/s,
  );
  expect(await fails('--script', 'map.yaml')).toMatch(/^2 .*is not a list of moves/s);
  expect(await fails('--script', 'none.yaml')).toMatch(/^3 .*none\.yaml/s);
  expect(await fails('--input', 'isue=x')).toMatch(/^2 .*has no input 'isue'/s);
  expect(await fails('--input', 'issue')).toMatch(/^2 .*takes name=value, not 'issue'/s);
  expect(await fails('--input', 'level=abc')).toMatch(/^2 .*'level' is a number, not 'abc'/s);
  expect(await fails('--input', 'loud=yes')).toMatch(/^2 .*'loud' is a boolean, not 'yes'/s);
  expect(await fails('--tasks', '201')).toMatch(/^2 .*at most 200/s);
  expect(await fails('--script', 'kind.yaml')).toMatch(
    /^2 .*Move 1 of 'kind.yaml': invalid value for 'tasks'/s,
  );
});

test('agents claim tasks in a parallel loop', async () => {
  using here = createTestFolder({
    'team.yaml': `
name: team
description: Several at once
loops: { build: [{ id: code, instructions: Code }] }
steps: [{ id: build, type: loop, parallel: 2 }]
`,
  });
  const { code, stdout } = await here.run(['dry-run', 'team.yaml']);
  expect(code).toBe(0);
  expect(stdout).toContain('● build/task-2/code#1  held by agent-1');
});

test('a workflow that cannot finish exits with 1', async () => {
  using here = createTestFolder({
    'stuck.yaml': `
name: stuck
description: Every task fails
loops: { build: [{ id: code, instructions: Code, on_fail: skip }] }
steps: [{ id: build, type: loop }]
`,
    'fail.yaml': '- tasks: [a]\n- fail: no\n',
  });
  const { code, stdout } = await here.run(['dry-run', 'stuck.yaml', '--script', 'fail.yaml']);
  expect(code).toBe(1);
  expect(stdout).toContain('· waiting');
});

const conditions = (condition: string, more = '') => `
name: decided
description: Conditions are decided
loops: { build: [{ id: code, instructions: Code, on_fail: skip }] }
steps:
  - { id: plan, type: action, instructions: Plan }
  - { id: build, type: loop }
  - { id: end, type: action, instructions: End, gate: [{ condition: '${condition}' }]${more} }
`;

test.each([
  ['outputs.plan == "never"', 1],
  ['outputs.plan.contains("done")', 0],
  ['tasks.build.all(t, t.status == "done")', 0],
  ['tasks.build.exists(t, t.status == "failed")', 1],
  ['state.artifacts.spec_path', 0],
  ['size(state.nothing) > 0', 1],
])('A12: a condition is decided on the simulated run: %s exits with %i', async (condition, expected) => {
  using here = createTestFolder({ 'decided.yaml': conditions(condition) });
  const { code, stdout } = await here.run(['dry-run', 'decided.yaml']);
  expect(code).toBe(expected);
  expect(stdout).toContain(expected === 0 ? '✓ complete' : '· waiting');
  expect(stdout.split('\n').length).toBeLessThan(80);
});

test('A12: a script says which gates are red, in either word, and what it cannot mean is an error', async () => {
  const script = (...results: string[]) =>
    results.map((result) => `- advance: x\n- gates: ${result}\n`).join('');
  using here = createTestFolder({
    'gated.yaml':
      'name: gated\nsteps: [{ id: do, type: action, instructions: Do, gate: [{ run: npm test }, { exists: A.md }] }]\n',
    'fail.yaml': script('fail', 'red', 'A.md', 'pass'),
    'odd.yaml': script('broken'),
  });
  const { code, stdout } = await here.run(['dry-run', 'gated.yaml', '--script', 'fail.yaml']);
  expect(code).toBe(0);
  expect(stdout.match(/✗ gate npm test/g)).toHaveLength(2);
  expect(stdout.match(/✗ gate A\.md/g)).toHaveLength(3);
  expect((await here.run(['dry-run', 'gated.yaml', '--script', 'odd.yaml'])).code).toBe(2);
});

test('[L/expect] a script names a gate by its command, whatever is expected of it', async () => {
  using here = createTestFolder({
    'tdd.yaml':
      'name: tdd\nsteps: [{ id: do, type: action, instructions: Do, gate: [{ run: npm test, expect: fail }, { exists: A.md }] }]\n',
    'red.yaml': ['npm test', 'npm test (expected to fail)', 'fail', 'pass']
      .map((result) => `- advance: x\n- gates: ${result}\n`)
      .join(''),
  });
  const { code, stdout } = await here.run(['dry-run', 'tdd.yaml', '--script', 'red.yaml']);
  expect(code).toBe(0);
  expect(stdout.match(/✗ gate npm test \(expected to fail\)/g)).toHaveLength(3);
  expect(stdout.match(/✗ gate A\.md/g)).toHaveLength(1);
});

test('[L/output] [L/schema] an output is made up from its schema, so that its parts decide', async () => {
  const schema =
    '{ type: object, properties: { list: { type: array, minItems: 2 }, ok: { type: boolean } } }';
  using here = createTestFolder({
    'json.yaml': `name: j
steps:
  - { id: find, type: action, instructions: Find, output: json, schema: ${schema} }
  - { id: fix, type: action, instructions: Fix, when: outputs.find.ok && size(outputs.find.list) == 2 }
  - { id: skip, type: action, instructions: Skip, when: '!outputs.find.ok' }
`,
  });
  const { code, stdout } = await here.run(['dry-run', 'json.yaml']);
  expect(code).toBe(0);
  expect(stdout).toMatch(/● fix#2.*● skip skipped/s);
});

test('A12: a script notes an artifact', async () => {
  using here = createTestFolder({
    'decided.yaml': conditions('state.artifacts.spec_path == "docs/spec.md"'),
    'note.yaml': '- artifact: spec_path=docs/spec.md\n',
  });
  const { code, stdout } = await here.run(['dry-run', 'decided.yaml', '--script', 'note.yaml']);
  expect(code).toBe(0);
  expect(stdout).not.toContain('✗');
});

test('[L/baseline] a gate is red before the work, unless a script says otherwise, and no move is lost to it', async () => {
  using here = createTestFolder({
    'b.yaml':
      'name: b\nsteps: [{ id: do, type: action, instructions: Do it, gate: [{ run: npm test, baseline: true }] }]\n',
    'red.yaml': '- advance: x\n- gates: red\n- advance: y\n- gates: green\n',
    'green.yaml': '- gates: green\n- advance: x\n- gates: green\n',
  });
  const { code, stdout } = await here.run(['dry-run', 'b.yaml']);
  expect(code).toBe(0);
  expect(stdout).toMatch(/● do#1\n +✗ before npm test\n +Do it\n +✓ gate npm test.*\n +✓ done\n/);
  const red = await here.run(['dry-run', 'b.yaml', '--script', 'red.yaml']);
  expect(red.stdout).toMatch(/✗ before npm test.*✗ gate npm test.*✓ gate npm test/s);
  const green = await here.run(['dry-run', 'b.yaml', '--script', 'green.yaml']);
  expect(green.stdout).toMatch(/✓ before npm test.*✓ gate npm test/s);
  expect([red.code, green.code]).toEqual([0, 0]);
});
