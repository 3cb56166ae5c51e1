import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createHookKit, type HookKit } from '../../../test/kit/hooks.ts';
import { createBindings, createHolds } from '../../runtime/index.ts';
import { stateDirectory } from '../../workspace/index.ts';
import { statusline } from './line.ts';

const workflow = `name: w
description: x
steps:
  - { id: plan, type: action, instructions: x, gate: [{ exists: PLAN.md }] }
  - { id: build, type: action, instructions: y, review: { by: human } }
`;

let kit: HookKit;

beforeEach(() => {
  kit = createHookKit({ '.stepfast/workflows/w.yaml': workflow });
});
afterEach(() => kit[Symbol.dispose]());

const line = (more: object = {}, env = { NO_COLOR: '1' }, later = 0): Promise<string> =>
  statusline(
    JSON.stringify({
      session_id: 'a',
      cwd: kit.project.root,
      workspace: { current_dir: kit.project.root, project_dir: kit.project.root },
      context_window: { used_percentage: 41.6 },
      cost: { total_cost_usd: 0.1 },
      ...more,
    }),
    { env, now: Date.now() + later },
  );

test('nothing is printed without a run, and nothing is written', async () => {
  expect(await line()).toBe('');
  expect(kit.project.git('status', '--short')).toBe('');
});

test("it shows the phase, the last gate's result and age, and how full the context is", async () => {
  const { run, at } = await kit.start();
  await kit.called('a', { run, at });
  expect(await line()).toBe('w 1/2 plan · ctx 42 %\n');
  await kit.runtime.call({ type: 'advance', output: 'Done!', at }, { session: 'mcp-1' }, { run });
  expect(await line({}, { NO_COLOR: '1' }, 180_000)).toBe('w 1/2 plan · ✗ PLAN.md 3 min ago · ctx 42 %\n');
  kit.project.write({ 'PLAN.md': '' });
  const next = await kit.call(run, { type: 'advance', output: 'Done.', at });
  expect(await line()).toBe('w 2/2 build · ✓ PLAN.md just now · ctx 42 %\n');
  await kit.call(run, { type: 'advance', output: 'Built.', at: next });
  expect(await line()).toContain('w 2/2 build · waiting for review · ✓ PLAN.md');
});

test('the fuller the context, the louder it is', async () => {
  const { run, at } = await kit.start();
  await kit.called('a', { run, at });
  const looks = await Promise.all(
    [10, 70, 95].map((used) => line({ context_window: { used_percentage: used } }, { NO_COLOR: '' })),
  );
  const esc = '\u001b';
  expect(looks.map((look) => look.slice(look.lastIndexOf('·')).includes(`${esc}[31m`))).toEqual([
    false,
    false,
    true,
  ]);
  expect(looks[1]).toContain(`${esc}[33mctx 70 %`);
});

test('context pressure is kept in the binding and never in the journal', async () => {
  const { run, at } = await kit.start();
  await kit.called('a', { run, at });
  const journal = join(kit.project.root, '.stepfast', 'runs', run, 'journal.jsonl');
  const before = readFileSync(journal, 'utf8');
  await line();
  const bindings = createBindings(kit.runtime.project.directory);
  const key = { host: 'claude-code', session: 'a' };
  expect(await bindings.get(key)).toMatchObject({ pressure: 42, at });
  await kit.called('a', { run, at });
  expect(await bindings.get(key)).toMatchObject({ pressure: 42 });
  expect(readFileSync(journal, 'utf8')).toBe(before);
});

test('A1: what the session costs is counted from when it was bound, also if the host begins anew', async () => {
  const { run, at } = await kit.start();
  await kit.called('a', { run, at });
  const bindings = createBindings(kit.runtime.project.directory);
  for (const total_cost_usd of [0.5, 0.75, 0.75, 0.25]) await line({ cost: { total_cost_usd } });
  expect(await bindings.get({ host: 'claude-code', session: 'a' })).toMatchObject({
    cost: { spent: 0.5, total: 0.25 },
  });
});

test('a budget of which less than a quarter is left is shown', async () => {
  kit.project.write({
    '.stepfast/workflows/w.yaml': `name: w
description: x
steps:
  - { id: plan, type: action, instructions: x, budget: { turns: 10 } }
`,
  });
  const { run, at } = await kit.start();
  await kit.called('a', { run, at });
  const tell = (turns: number) => kit.call(run, { type: 'spend', source: 'a', turns });
  await tell(7);
  expect(await line()).not.toContain('turns');
  await tell(8);
  expect(await line()).toContain('8 of 10 turns');
});

test('[U10] a session sees only its own run', async () => {
  const { run, at } = await kit.start();
  await kit.called('a', { run, at });
  expect(await line()).toContain('w 1/2 plan');
  expect(await line({ session_id: 'new' })).toBe('');
});

test('in a loop it shows the task', async () => {
  kit.project.write({
    '.stepfast/workflows/w.yaml': `name: w
description: x
steps:
  - { id: build, type: loop, instructions: x }
loops:
  build:
    - { id: code, instructions: y }
`,
  });
  const { run, at } = await kit.start();
  const tasks = ['form', 'page'].map((id) => ({ id, title: id }));
  const first = await kit.call(run, { type: 'setTasks', loop: 'build', tasks });
  await kit.called('a', { run, at });
  expect(await line()).toContain('w 1/1 build, task form (0 of 2 done)');
  await kit.call(run, { type: 'advance', output: 'Coded.', at: first });
  expect(await line()).toContain('task page (1 of 2 done)');
});

test('a hold is shown, also without a run', async () => {
  const env = { NO_COLOR: '1', XDG_STATE_HOME: join(kit.project.root, '..', 'state') };
  const holds = createHolds(kit.runtime.project, stateDirectory({ env }));
  holds.set('npm test', Date.now());
  expect(await line({}, env)).toBe('hold npm test · ctx 42 %\n');
  holds.drop();
  expect(await line({}, env)).toBe('');
});

test('[U14] a run that has ended is shown for ten minutes', async () => {
  const { run, at } = await kit.start();
  await kit.called('a', { run, at });
  await kit.runtime.call({ type: 'cancel', reason: 'x' }, { actor: { kind: 'person' } }, { run });
  expect(await line()).toContain('✗ w cancelled');
  expect(await line({}, { NO_COLOR: '1' }, 11 * 60_000)).toBe('');
});

test('A6: a run that ended although until never held is shown as unproven', async () => {
  const step =
    '{ id: polish, type: ralph, n: 1, instructions: x, until: [{ exists: NEVER.md }], on_exhausted: complete }';
  kit.project.write({ '.stepfast/workflows/w.yaml': `name: w\ndescription: x\nsteps: [${step}]\n` });
  const { run, at } = await kit.start();
  await kit.called('a', { run, at });
  await kit.call(run, { type: 'advance', output: 'Polished.', at });
  await expect.poll(() => line(), { timeout: 20_000 }).toContain('w complete, unproven');
});

test.each([
  ['no JSON', 'nonsense'],
  ['an empty object', '{}'],
  ['a folder that is not there', '{"session_id":"a","cwd":"/nowhere/at/all"}'],
  ['odd values', '{"session_id":7,"cwd":[],"context_window":null}'],
])('%s gives nothing', async (_, stdin) => {
  expect(await statusline(stdin, { env: {}, now: 1 })).toBe('');
});

test('files that are broken give nothing, or less', async () => {
  const { run, at } = await kit.start();
  await kit.called('a', { run, at });
  const folder = join(kit.project.root, '.stepfast', 'runs', run);
  writeFileSync(join(folder, 'journal.jsonl'), 'torn "gates.finished" {');
  expect(await line({ context_window: { used_percentage: null } })).toBe('w 1/2 plan\n');
  writeFileSync(join(folder, 'state.json'), '{');
  expect(await line()).toBe('');
});
