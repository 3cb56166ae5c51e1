import { describe, expect, test } from 'vitest';
import { coding } from '../../test/kit/reviewed-run.ts';
import { action, loop, Run, workflow } from '../../test/kit/run.ts';

const minute = 60_000;

describe('budgets', () => {
  test('turns that run out make the run wait for a person', () => {
    const run = coding();
    run.send({ type: 'spend', turns: 2 });
    expect(run.state.status).toBe('running');
    const reply = run.send({ type: 'spend', turns: 1 });
    expect(run.types()).toEqual(['budget.spent', 'budget.exhausted']);
    expect(reply).toMatchObject({
      status: 'waiting',
      waiting: { for: 'budget', unit: 'turns', step: 'coding' },
      action: { do: 'wait', for: 'budget', unit: 'turns' },
    });
    expect(run.advance('coded')).toMatchObject({ status: 'waiting' });
    expect(run.last).toEqual([]);
    run.send({ type: 'spend', turns: 1 });
    expect(run.types()).toEqual(['budget.spent']);
  });

  test('continuing needs an amount of what ran out, from a person', () => {
    const run = coding();
    run.send({ type: 'spend', tokens: 1000 });
    expect(run.send({ type: 'review', verdict: 'approve', amount: { tokens: 5 } })).toMatchObject({
      code: 'person_only',
    });
    expect(run.person({ type: 'review', verdict: 'approve' })).toMatchObject({ code: 'amount_required' });
    expect(run.person({ type: 'review', verdict: 'approve', amount: { turns: 5 } })).toMatchObject({
      code: 'amount_required',
    });
    expect(run.person({ type: 'review', verdict: 'approve', amount: { tokens: -5 } })).toMatchObject({
      code: 'amount_required',
    });
    expect(run.person({ type: 'review', verdict: 'revise' })).toMatchObject({ code: 'bad_verdict' });
    expect(run.person({ type: 'review', verdict: 'approve', amount: { tokens: 100 } })).toMatchObject({
      status: 'running',
    });
    run.send({ type: 'spend', tokens: 99 });
    expect(run.state.status).toBe('running');
    run.send({ type: 'spend', tokens: 1 });
    expect(run.state.status).toBe('waiting');
    run.person({ type: 'review', verdict: 'approve', amount: { tokens: 1, turns: 2 } });
    expect(run.state.budget.extra).toEqual({ tokens: 101, turns: 2 });
  });

  test('minutes are active time: gaps of more than five minutes count nothing', () => {
    const run = coding();
    run.send({ type: 'spend' });
    run.now += 5 * minute;
    run.send({ type: 'spend' });
    run.now += 5 * minute + 1;
    run.send({ type: 'spend' });
    expect(run.state.budget.activeMs).toBe(5 * minute);
    run.now += 5 * minute;
    run.send({ type: 'spend' });
    expect(run.state.budget).toMatchObject({ exhausted: 'minutes', activeMs: 10 * minute });
  });

  test('a clock that goes back counts nothing, and neither do negative amounts', () => {
    const run = coding();
    run.send({ type: 'spend', turns: -5, tokens: -5 });
    run.now -= minute;
    run.send({ type: 'spend' });
    expect(run.state.budget).toMatchObject({ turns: 0, tokens: 0, activeMs: 0 });
  });

  test('gates that pass beat a budget that just ran out', () => {
    const run = coding();
    run.advance('coded');
    run.send({ type: 'spend', turns: 3 });
    expect(run.state.status).toBe('waiting');
    run.gates();
    expect(run.types()).toEqual(['gates.finished', 'review.requested']);
  });

  test('each step has its own budget, and one without a limit never waits', () => {
    const run = new Run(
      workflow([action('a', { budget: { turns: 2 } }), action('b', { budget: { turns: 2 } }), action('c')]),
    );
    run.send({ type: 'spend', turns: 1 });
    run.advance('x');
    run.send({ type: 'spend', turns: 1 });
    expect(run.state).toMatchObject({ status: 'running', budget: { turns: 1 } });
    run.advance('y');
    run.send({ type: 'spend', turns: 1000, tokens: 1e9 });
    expect(run.state.status).toBe('running');
  });

  test('a budget review may pivot, escalate or abandon', () => {
    const run = coding();
    run.send({ type: 'spend', turns: 3 });
    expect(run.person({ type: 'review', verdict: 'escalate', feedback: 'Ask the lead' })).toMatchObject({
      status: 'waiting',
    });
    expect(run.types()).toEqual(['review.decided']);
    expect(run.person({ type: 'review', verdict: 'pivot', feedback: 'Smaller' })).toMatchObject({
      step: 'planning',
    });
    expect(run.state.budget).toMatchObject({ turns: 0 });
    const lost = coding();
    lost.send({ type: 'spend', turns: 3 });
    lost.person({ type: 'review', verdict: 'abandon' });
    expect(lost.state.status).toBe('failed');
  });

  test("a budget without a target pivots where the step's review does", () => {
    const run = new Run(
      workflow([action('a'), action('b', { budget: { turns: 1 }, review: { by: 'human', on_pivot: 'a' } })]),
    );
    run.advance('x');
    run.send({ type: 'spend', turns: 1 });
    expect(run.person({ type: 'review', verdict: 'pivot' })).toMatchObject({ step: 'a' });
  });

  test('nothing is claimed while the budget is used up', () => {
    const definition = workflow([loop('build', { parallel: 2, budget: { turns: 1 } })], {
      loops: { build: [{ id: 'c', instructions: 'C' }] },
    });
    const run = new Run(definition);
    run.tasks('build', 'a');
    run.send({ type: 'spend', turns: 1 });
    expect(run.claim('A')).toMatchObject({ status: 'waiting' });
    expect(run.last).toEqual([]);
    expect(run.send({ type: 'claim', holder: 'A', session: 'B' })).toMatchObject({ code: 'task_held' });
  });

  test('an escalated budget review says so until it is decided', () => {
    const run = coding();
    run.send({ type: 'spend', turns: 3 });
    run.person({ type: 'review', verdict: 'escalate', feedback: 'Ask the lead' });
    expect(run.status().waiting).toMatchObject({ unit: 'turns', escalated: 'Ask the lead' });
    run.person({ type: 'review', verdict: 'approve', amount: { turns: 1 } });
    expect(run.state.budget).not.toHaveProperty('escalated');
  });

  test('what a finished step spent is not charged to the next one', () => {
    const run = new Run(workflow([action('a'), action('b', { budget: { turns: 5 } })]));
    run.advance('done');
    run.send({ type: 'spend', turns: 20, at: 'k3f9x2ab:a#1' });
    expect(run.last).toMatchObject([{ type: 'budget.spent', step: 'a', turns: 20 }]);
    expect(run.state).toMatchObject({ status: 'running', budget: { turns: 0 } });
    run.send({ type: 'spend', turns: 5, at: 'k3f9x2ab:b#1' });
    expect(run.state.status).toBe('waiting');
  });

  test('only finite amounts count', () => {
    const run = coding();
    run.send({ type: 'spend', turns: Number.NaN, tokens: Number.POSITIVE_INFINITY });
    expect(run.state.budget).toMatchObject({ turns: 0, tokens: 0 });
    run.send({ type: 'spend', turns: 3 });
    const amount = { turns: Number.POSITIVE_INFINITY };
    expect(run.person({ type: 'review', verdict: 'approve', amount })).toMatchObject({
      code: 'amount_required',
    });
  });

  test('clocks that differ do not burn minutes, and sums stay numbers', () => {
    const run = coding();
    run.send({ type: 'spend' });
    for (let turn = 0; turn < 20; turn += 1) {
      run.send({ type: 'spend', now: run.now - 240_000 });
      run.send({ type: 'spend', now: run.now });
    }
    expect(run.state.budget.activeMs).toBe(0);
    run.send({ type: 'spend', tokens: 1.7e308 });
    expect(run.state.budget.tokens).toBe(1e12);
  });
});
