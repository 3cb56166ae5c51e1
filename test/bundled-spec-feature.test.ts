import { expect, test } from 'vitest';
import { compileCondition } from '../src/definition/index.ts';
import { bundled, idsOf, stepOf, workThrough } from './kit/bundled.ts';
import { Run } from './kit/run.ts';

test('[003/10] spec-feature goes from planning over plan review, coding and testing to code review', () => {
  const spec = bundled('spec-feature');
  expect(idsOf(spec)).toEqual(['planning', 'plan_review', 'coding', 'testing', 'code_review']);
  expect(spec.steps.filter(({ review }) => review).map(({ id, review }) => [id, review])).toEqual([
    ['plan_review', { by: 'human', on_pivot: 'planning' }],
    ['code_review', { by: 'human', on_pivot: 'planning' }],
  ]);
  expect(spec.steps.filter(({ budget }) => budget?.on_pivot === 'planning').map(({ id }) => id)).toEqual([
    'planning',
    'coding',
    'testing',
    'code_review',
  ]);
  expect(spec.todo_path).toBe('TODO.md');
  expect(stepOf(spec, 'coding').instructions).toContain('update_todo_list');
});

test('[003/10] spec-feature clears the conversation between plan review and coding, and nowhere else', () => {
  const requests = workThrough(bundled('spec-feature')).events.filter(
    ({ type }) => type === 'boundary.requested',
  );
  expect(requests).toMatchObject([{ at: 'k3f9x2ab:coding#1' }]);
});

test('[003/10] a budget of spec-feature that runs out waits, and its pivot clears and keeps story, plan and feedback', () => {
  const run = new Run(bundled('spec-feature'), { start: false });
  run.send({ type: 'start', run: 'spec-feature-20261115-k3f9x2ab', inputs: { story: 'Log in with a key' } });
  run.advance('1. The key store. 2. The form.');
  run.gates();
  run.advance('Please decide');
  expect(run.person({ type: 'review', verdict: 'approve' }).contextAction).toBe('/clear');
  run.send({ type: 'spend', turns: 200 });
  expect(run.status()).toMatchObject({ status: 'waiting', waiting: { for: 'budget', by: 'human' } });
  const pivoted = run.person({ type: 'review', verdict: 'pivot', feedback: 'Use the host key store' });
  expect(pivoted).toMatchObject({ step: 'planning', contextAction: '/clear' });
  expect(run.status()).toMatchObject({ contextAction: '/clear' });
  const replanned = run.status();
  expect(replanned.instructions).toContain('Log in with a key');
  expect(replanned.feedback).toContain('**[BUDGET_PIVOT_FEEDBACK]:** "Use the host key store"');
  expect(run.state.pivots).toMatchObject([{ plan: '1. The key store. 2. The form.' }]);
});

test('[003/10] a pivot at either review of spec-feature returns to planning', () => {
  for (const at of ['plan_review', 'code_review']) {
    const run = new Run(bundled('spec-feature'), { start: false });
    run.send({ type: 'start', run: 'spec-feature-20261115-k3f9x2ab', inputs: { story: 'x' } });
    for (let turn = 0; run.state.step !== at || run.state.status === 'running'; turn++) {
      if (turn > 50) throw new Error('it is not reached');
      run.now += 120_000;
      const [cursor] = Object.values(run.state.cursors);
      if (cursor?.checking) run.gates();
      else if (cursor?.waiting) run.person({ type: 'review', verdict: 'approve' });
      else if (cursor?.boundary?.state === 'requested') run.status();
      else run.advance(`done ${turn}`);
    }
    expect(run.person({ type: 'review', verdict: 'pivot', feedback: 'Smaller' })).toMatchObject({
      step: 'planning',
      contextAction: '/clear',
    });
    expect(run.status().feedback).toContain('**[PLAN_PIVOT_FEEDBACK]:** "Smaller"');
  }
});

test('[004/11] specification and plan of spec-feature are required as soon as the state knows their paths', () => {
  const { conditional_load = [] } = bundled('spec-feature').critical_artifacts ?? {};
  const known = conditional_load.filter(({ path_from_state }) => path_from_state !== undefined);
  expect(known.map(({ id, required, path_from_state }) => [id, required, path_from_state])).toEqual([
    ['specification', true, 'artifacts.spec_path'],
    ['plan', true, 'artifacts.plan_path'],
  ]);
  for (const { condition = '', path_from_state = '' } of known) {
    const compiled = compileCondition(condition);
    const key = path_from_state.split('.')[1] ?? '';
    const holds = (artifacts: Record<string, string>) =>
      compiled.ok && compiled.evaluate({ state: { artifacts } });
    expect([holds({}), holds({ [key]: 'specs/x.md' })]).toEqual([false, true]);
  }
});
