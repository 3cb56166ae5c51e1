import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createHookKit, type HookKit } from '../../../test/kit/hooks.ts';
import { WorkflowValidationError } from '../../definition/index.ts';
import { statusline } from '../statusline/line.ts';

const titled = `name: w
description: x
steps:
  - { id: plan, title: Plan it well, type: action, instructions: x }
  - { id: build, title: Build all components of the new page, type: loop }
  - { id: ship, type: action, instructions: z }
loops:
  build:
    - { id: code, title: Write the code, instructions: "Implement {task.title}" }
`;
const env = { PATH: process.env.PATH };
let kit: HookKit;

beforeEach(() => {
  kit = createHookKit({ '.stepfast/workflows/w.yaml': titled });
});
afterEach(() => kit[Symbol.dispose]());

const shown = async (...argv: string[]): Promise<string> =>
  (await kit.project.run(argv, { env, terminal: true, columns: 200 })).stdout;

const stateOf = (run: string) =>
  JSON.parse(readFileSync(join(kit.project.root, '.stepfast/runs', run, 'state.json'), 'utf8'));

const inStatusLine = (): Promise<string> =>
  statusline(
    JSON.stringify({ session_id: 'a', cwd: kit.project.root, workspace: { project_dir: kit.project.root } }),
    { env: { NO_COLOR: '1' }, now: Date.now() },
  );

test('M5: people read the titles of steps and sub-steps, and the ids stay the addresses', async () => {
  const { run, at } = await kit.start();
  await kit.called('a', { run, at });
  expect(at).toContain(':plan#1');
  expect(await shown('status')).toMatch(/Plan it well {2}. Build all components of the new page {2}. ship/);
  expect(await shown('status')).toContain('phase 1/3 Plan it well (plan)');
  expect(await inStatusLine()).toContain('w 1/3 Plan it well');
  expect(await shown('prime')).toContain("phase 1/3 'Plan it well' (step plan)");
  await kit.call(run, { type: 'setTasks', loop: 'build', tasks: [{ id: 't', title: 'T' }] });
  await kit.call(run, { type: 'advance', output: 'Done.', at });
  expect(await shown('status')).toMatch(/Write the code\s+\(code\)/);
  expect(await shown('status')).toContain('Plan it well (plan)');
  expect(await shown('log')).toContain('Write the code (build/t/code)');
  // Too long for the status line.
  expect(await inStatusLine()).toContain('w 2/3 build, task t');
});

test('M5: pictures show the title with the id', async () => {
  const tree = await shown('graph', 'w');
  expect(tree).toContain('Plan it well (plan)  action');
  expect(tree).toContain('Write the code (code)');
  expect(await shown('graph', 'w', '--format', 'mermaid')).toContain('<b>Plan it well</b>');
  expect(await shown('graph', 'w', '--format', 'svg')).toMatch(/>Plan it well<tspan[^>]*>plan · action</);
});

test('M5: state.json names the phase by its title, and phases that are not reached are not_started', async () => {
  const { run, at } = await kit.start();
  const { phase, phases } = stateOf(run);
  expect(phase).toEqual({ current: 1, total: 3, name: 'Plan it well', status: 'in_progress' });
  expect(phases).toEqual([
    { current: 1, name: 'Plan it well', status: 'in_progress' },
    { current: 2, name: 'Build all components of the new page', status: 'not_started' },
    { current: 3, name: 'ship', status: 'not_started' },
  ]);
  await kit.call(run, { type: 'advance', output: 'Done.', at });
  expect(stateOf(run).phases.map(({ status }: { status: string }) => status)).toEqual([
    'completed',
    'in_progress',
    'not_started',
  ]);
});

test('M5: a title has one line', () => {
  kit.project.write({ '.stepfast/workflows/w.yaml': titled.replace('Plan it well', '"a\\nb"') });
  expect(() => kit.runtime.resolve('w')).toThrow(WorkflowValidationError);
});
