import { afterEach, beforeEach, expect, test } from 'vitest';
import { createTestProject, type TestProject } from '../testing/index.ts';
import { isRefused } from './answer.ts';

const lanes = `name: lanes
description: A workflow of Lanes
steps:
  - { id: plan, type: action, instructions: Plan it. }
  - { id: work, type: loop }
  - { id: review, type: action, context: compact, instructions: Review it. }
loops:
  work:
    - { id: code, instructions: Code it. }
    - { id: verify, instructions: Verify it. }
`;
const gated = `name: gated
description: The same with a gate
extends: lanes
steps:
  - { id: review, gate: [{ exists: REVIEW.md }] }
`;

/** As Lanes writes it, with a key that Stepfast does not know. */
const saved = {
  status: 'running',
  step: 'work',
  stepType: 'loop',
  task: { index: 1, id: 'b', title: 'B' },
  subStep: 'verify',
  tasks: {
    work: [
      { id: 'a', title: 'A', status: 'done' },
      { id: 'b', title: 'B', status: 'in_progress' },
    ],
  },
  outputs: { plan: 'planned', 'work.a.code': 'A is coded', 'work.a.verify': 'A works' },
  summary: 'The login page',
  artefacts: [],
  contextActionExecuted: false,
  savedBy: 'lanes 1.4',
};

let project: TestProject;
beforeEach(() => {
  project = createTestProject({
    '.lanes/workflows/lanes.yaml': lanes,
    '.lanes/workflows/gated.yaml': gated,
    'workflow-state.json': JSON.stringify(saved, null, 2),
  });
});
afterEach(() => project[Symbol.dispose]());

const start = async (workflow: string, more: object = {}) =>
  await project.runtime().start({ workflow, ...more }, { session: 'one' });

test('[M11] a start goes on where the workflow-state.json of Lanes is, once', async () => {
  const { run = '', reply, warning } = await start('lanes', { summary: 'anything' });
  expect(isRefused(reply)).toBe(false);
  expect(reply).toMatchObject({ step: 'work', task: { id: 'b' }, subStep: 'verify' });
  expect(warning).toContain('workflow-state.json');
  const { state } = (await project.runtime().engine.view(run)) ?? {};
  expect(state).toMatchObject({ summary: 'The login page', outputs: { plan: { text: 'planned' } } });
  await project.runtime().engine.remove(run);
  expect((await start('lanes')).reply).toMatchObject({ step: 'plan' });
});

test('[M11] what Lanes has written since is taken up', async () => {
  const first = await start('lanes');
  await project.runtime().engine.remove(first.run ?? '');
  const { task: _, subStep: __, ...rest } = saved;
  const later = { ...rest, step: 'review', stepType: 'action' };
  project.write({ 'workflow-state.json': JSON.stringify(later) });
  expect((await start('lanes')).reply).toMatchObject({ step: 'review' });
});

test.each([
  ['a workflow with a gate: an agent can write the file', 'gated', saved],
  ['a workflow without that step', 'lanes', { ...saved, step: 'other' }],
  ['a finished state', 'lanes', { ...saved, status: 'complete' }],
  ['a file that is no state', 'lanes', { step: 'work' }],
])('[M11] a start does not go on from it for %s', async (_, workflow, state) => {
  project.write({ 'workflow-state.json': JSON.stringify(state) });
  expect((await start(workflow)).reply).toMatchObject({ step: 'plan' });
});

test('[M11] a second run beside the one under way starts at its first step', async () => {
  expect((await start('lanes', { resume: false })).reply).toMatchObject({ step: 'plan' });
});

test('[M11] import takes the file too, with the name of its workflow; gates and reviews need a person', async () => {
  const { env } = project;
  const imported = await project.run(['import', 'workflow-state.json', '--workflow', 'lanes', '--json'], {
    env,
  });
  const { run } = JSON.parse(imported.stdout);
  expect((await project.runtime().engine.view(run))?.state).toMatchObject({ step: 'work' });
  expect((await project.run(['import', 'workflow-state.json'], { env })).code).toBe(2);
  const refused = await project.run(['import', 'workflow-state.json', '--workflow', 'gated', '--json'], {
    env,
  });
  expect(JSON.parse(refused.stdout)).toMatchObject({ code: 'person_only' });
});
