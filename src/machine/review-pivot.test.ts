import { describe, expect, test } from 'vitest';
import { coding, maestro } from '../../test/kit/reviewed-run.ts';
import { action, loop, Run, workflow } from '../../test/kit/run.ts';

describe('feedback and pivots', () => {
  test('[003/3] approving the plan clears on the way to coding; other transitions keep the conversation', () => {
    const run = new Run(maestro());
    run.advance('The plan', { tree: 't1' });
    expect(run.person({ type: 'review', verdict: 'approve' })).toMatchObject({
      step: 'coding',
      contextAction: '/clear',
    });
    expect(run.types()).toEqual([
      'review.decided',
      'position.completed',
      'step.completed',
      'step.entered',
      'position.entered',
    ]);
    expect(run.state.outputs.planning).toMatchObject({ text: 'The plan', reviewed: 'ann' });
    expect(run.status()).toMatchObject({ contextAction: '/clear' });
    expect(run.types()).toEqual(['boundary.requested']);
    expect(run.status()).toMatchObject({ instructions: 'Do coding' });
    run.advance('coded');
    run.gates();
    const done = run.send({ type: 'review', verdict: 'approve', actor: { kind: 'agent', name: 'reviewer' } });
    expect(done).toMatchObject({ step: 'done', instructions: 'Do done' });
    expect(done).not.toHaveProperty('contextAction');
    expect(run.state.outputs.coding?.reviewed).toBe('reviewer');
  });

  test('[003/3] a pivot clears and keeps the story, the plan and the feedback', () => {
    const run = new Run(maestro(), { start: false });
    run.send({ type: 'start', run: 'demo-1-abc', summary: 'Add a queue' });
    run.advance('The plan: use a queue');
    run.person({ type: 'review', verdict: 'approve' });
    run.status();
    run.status();
    run.advance('coded');
    run.gates();
    const reply = run.person({ type: 'review', verdict: 'pivot', feedback: '  Use a log instead  ' });
    expect(reply).toMatchObject({ step: 'planning', at: 'abc:planning#2', contextAction: '/clear' });
    expect(run.state.summary).toBe('Add a queue');
    expect(run.state.pivots).toMatchObject([
      { from: 'coding', to: 'planning', feedback: 'Use a log instead', plan: 'The plan: use a queue' },
    ]);
    expect(run.state.outputs).toEqual({});
  });

  test('[003/4] plan review and budget review keep feedback under their own tag, trimmed', () => {
    const plan = new Run(maestro());
    plan.advance('The plan');
    const long = 'x'.repeat(700);
    plan.person({ type: 'review', verdict: 'pivot', feedback: long });
    expect(plan.status().feedback).toMatch(/^\*\*\[PLAN_PIVOT_FEEDBACK\]:\*\* "x{597}\.\.\."/);
    expect(plan.state.pivots[0]?.feedback).toHaveLength(600);

    const budget = coding();
    budget.send({ type: 'spend', turns: 3 });
    budget.person({ type: 'review', verdict: 'pivot', feedback: 'Too much' });
    expect(budget.status().feedback).toMatch(/^\*\*\[BUDGET_PIVOT_FEEDBACK\]:\*\* "Too much"/);
    const exact = new Run(maestro());
    exact.advance('The plan');
    exact.person({ type: 'review', verdict: 'pivot', feedback: 'y'.repeat(600) });
    expect(exact.state.pivots[0]?.feedback).toBe('y'.repeat(600));
  });

  test('[003/5] after a pivot the agent is told that earlier work may have to be reverted', () => {
    const run = coding();
    run.advance('coded');
    run.gates();
    run.person({ type: 'review', verdict: 'pivot', feedback: 'Other way' });
    expect(run.status().feedback).toContain('may have to be reverted');
    run.status();
    run.advance('New plan');
    run.person({ type: 'review', verdict: 'approve' });
    expect(run.status()).not.toHaveProperty('feedback');
  });

  test('a pivot needs an earlier step', () => {
    const run = new Run(workflow([action('a', { review: { by: 'human' } }), action('b')]));
    run.advance('x');
    expect(run.person({ type: 'review', verdict: 'pivot' })).toMatchObject({
      code: 'no_pivot',
      params: { from: 'a', steps: ['a'] },
    });
    expect(run.person({ type: 'review', verdict: 'pivot', to: 'b' })).toMatchObject({
      code: 'no_pivot',
      params: { from: 'a', to: 'b' },
    });
    expect(run.person({ type: 'review', verdict: 'pivot', to: 'nope' })).toMatchObject({ code: 'no_pivot' });
    expect(run.person({ type: 'review', verdict: 'pivot', to: 'a' })).toMatchObject({
      step: 'a',
      contextAction: '/clear',
    });
  });

  test('a pivot keeps the plan that is under review, that of the last iteration, or the one before', () => {
    const run = new Run(maestro());
    run.advance('Plan one');
    run.person({ type: 'review', verdict: 'pivot', feedback: 'No' });
    expect(run.state.pivots[0]).toMatchObject({ from: 'planning', to: 'planning', plan: 'Plan one' });
    run.status();
    run.status();
    run.advance('Plan two');
    run.person({ type: 'review', verdict: 'pivot', feedback: 'No' });
    expect(run.state.pivots[1]?.plan).toBe('Plan two');

    const definition = workflow([
      { id: 'plan', type: 'ralph', n: 2, instructions: 'P' },
      action('code', { review: { by: 'human', on_pivot: 'plan' }, budget: { turns: 1, on_pivot: 'plan' } }),
    ]);
    const rounds = new Run(definition);
    rounds.advance('First');
    rounds.advance('Second');
    rounds.send({ type: 'spend', turns: 1 });
    rounds.person({ type: 'review', verdict: 'pivot' });
    expect(rounds.state.pivots[0]).toMatchObject({ plan: 'Second', feedback: '' });
  });

  test('a pivot before anything was said keeps the plan of the pivot before', () => {
    const definition = workflow([action('plan', { budget: { turns: 1, on_pivot: 'plan' } }), action('code')]);
    const run = new Run(definition);
    run.send({ type: 'spend', turns: 1 });
    run.person({ type: 'review', verdict: 'pivot' });
    expect(run.state.pivots[0]).not.toHaveProperty('plan');
    run.status();
    run.status();
    run.advance('The plan');
    run.person({ type: 'rewind', to: 'plan' });
    run.send({ type: 'spend', turns: 1 });
    run.person({ type: 'review', verdict: 'pivot' });
    expect(run.state.pivots[1]).not.toHaveProperty('plan');
  });

  test("after a pivot the old plan's tasks are gone", () => {
    const definition = workflow(
      [action('plan'), loop('build'), action('end', { review: { by: 'human', on_pivot: 'plan' } })],
      {
        loops: { build: [{ id: 'c', instructions: 'C' }] },
      },
    );
    const run = new Run(definition);
    run.advance('planned');
    run.tasks('build', 'old');
    run.advance('coded');
    run.advance('ended');
    run.person({ type: 'review', verdict: 'pivot', feedback: 'Again' });
    expect(run.state.tasks).toEqual({});
    run.status();
    run.status();
    expect(run.advance('planned anew')).toMatchObject({ at: 'k3f9x2ab:build#2' });
  });

  test('a plan that was revised and then given up is still kept by a pivot', () => {
    const run = new Run(maestro());
    run.advance('Plan one');
    run.person({ type: 'review', verdict: 'revise', feedback: 'More' });
    run.send({ type: 'fail', reason: 'stuck' });
    run.person({ type: 'review', verdict: 'pivot', feedback: 'Else' });
    expect(run.state.pivots[0]?.plan).toBe('Plan one');
  });
});
