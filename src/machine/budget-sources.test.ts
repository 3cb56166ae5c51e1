import { describe, expect, test } from 'vitest';
import { action, Run, workflow } from '../../test/kit/run.ts';
import { actions } from './actions.ts';
import { budgetUse } from './budget-use.ts';

const minute = 60_000;
const tell = (run: Run, source: string, figures: object) => run.send({ type: 'spend', source, ...figures });

describe('A1: figures with a source are cumulative', () => {
  test('what several processes tell of one session counts once', () => {
    const run = new Run(workflow([action('a', { budget: { tokens: 100 } })]));
    tell(run, 's', { turns: 1, tokens: 40 });
    tell(run, 's', { turns: 1, tokens: 40 });
    expect(run.last).toEqual([]);
    tell(run, 's', { turns: 1, tokens: 30 });
    tell(run, 's', { turns: 2, tokens: 60 });
    expect(run.state.budget).toMatchObject({ turns: 2, tokens: 60 });
    tell(run, 'other', { turns: 1, tokens: 39 });
    expect(run.state).toMatchObject({ status: 'running', budget: { turns: 3, tokens: 99 } });
    tell(run, 'other', { tokens: 40 });
    expect(run.state).toMatchObject({ status: 'waiting', budget: { exhausted: 'tokens' } });
  });

  test('a step starts with what is new in it, and a name like constructor is a session', () => {
    const run = new Run(
      workflow([action('a', { budget: { turns: 5 } }), action('b', { budget: { turns: 5 } })]),
    );
    tell(run, 'constructor', { turns: 4 });
    run.advance('x');
    tell(run, 'constructor', { turns: 6 });
    expect(run.state.budget.turns).toBe(2);
  });

  test('minutes and cost likewise', () => {
    const run = new Run(workflow([action('a', { budget: { minutes: 10, cost: 2 } })]));
    tell(run, 's', { activeMs: 9 * minute, cost: 1.5 });
    run.now += minute;
    tell(run, 's', { activeMs: 9 * minute, cost: 1.5 });
    expect(run.state).toMatchObject({ status: 'running', budget: { activeMs: 9 * minute, cost: 1.5 } });
    tell(run, 's', { activeMs: 9 * minute, cost: 2 });
    expect(run.state.budget.exhausted).toBe('cost');
  });
});

describe('A1: the budget of the whole run', () => {
  const definition = workflow([action('plan'), action('a'), action('b', { budget: { turns: 3 } })], {
    budget: { turns: 5, on_pivot: 'plan' },
  });

  test('counts all steps, and makes the run wait wherever it is', () => {
    const run = new Run(definition);
    tell(run, 's', { turns: 3 });
    run.advance('x');
    run.advance('y');
    tell(run, 's', { turns: 4 });
    expect(budgetUse(definition, run.state)).toEqual([
      { unit: 'turns', used: 1, limit: 3 },
      { of: 'run', unit: 'turns', used: 4, limit: 5 },
    ]);
    expect(tell(run, 's', { turns: 5 })).toMatchObject({
      status: 'waiting',
      waiting: { for: 'budget', of: 'run', unit: 'turns' },
      action: { do: 'wait', for: 'budget', of: 'run' },
    });
    expect(run.advance('z')).toMatchObject({ status: 'waiting' });
  });

  test('spending that is told after the step has ended counts for the run', () => {
    const run = new Run(definition);
    const at = run.status().at ?? '';
    run.advance('x');
    tell(run, 's', { turns: 5, at });
    expect(run.state).toMatchObject({ status: 'waiting', budget: { turns: 0 }, total: { turns: 5 } });
  });

  test('continuing and pivoting both need an amount', () => {
    const run = new Run(definition);
    run.advance('The plan');
    tell(run, 's', { turns: 5 });
    for (const verdict of ['approve', 'pivot'] as const)
      expect(run.person({ type: 'review', verdict })).toMatchObject({
        code: 'amount_required',
        params: { unit: 'turns', of: 'run' },
      });
    run.person({ type: 'review', verdict: 'escalate', feedback: 'Ask the lead' });
    expect(run.status().waiting).toMatchObject({ of: 'run', escalated: 'Ask the lead' });
    run.person({ type: 'review', verdict: 'pivot', feedback: 'Smaller', amount: { turns: 2 } });
    expect(run.state).toMatchObject({ status: 'running', step: 'plan', total: { extra: { turns: 2 } } });
    expect(run.status().feedback).toMatch(/BUDGET_PIVOT_FEEDBACK/);
    tell(run, 's', { turns: 7 });
    expect(run.state.total).toMatchObject({ turns: 7, exhausted: 'turns' });
    run.person({ type: 'review', verdict: 'approve', amount: { turns: 1 } });
    expect(run.state).toMatchObject({ status: 'running', total: { extra: { turns: 3 } } });
  });

  test('one approval is for both where both are used up, and needs both units', () => {
    const run = new Run(workflow([action('a', { budget: { turns: 2 } })], { budget: { tokens: 10 } }));
    tell(run, 's', { turns: 2, tokens: 10 });
    expect(run.person({ type: 'review', verdict: 'approve', amount: { turns: 1 } })).toMatchObject({
      code: 'amount_required',
      params: { unit: 'tokens', of: 'run' },
    });
    run.person({ type: 'review', verdict: 'approve', amount: { turns: 1, tokens: 5 } });
    expect(run.state.status).toBe('running');
  });
});

describe('more of a budget before it is used up', () => {
  const run = (): Run =>
    new Run(workflow([action('a', { budget: { turns: 2 } })], { budget: { turns: 9, tokens: 10 } }));

  test('is of the step, else of the run', () => {
    const one = run();
    one.person({ type: 'review', verdict: 'approve', amount: { turns: 1 } });
    one.person({ type: 'review', verdict: 'approve', amount: { tokens: 5 } });
    expect(budgetUse(one.definition, one.state)).toEqual([
      { unit: 'turns', used: 0, limit: 3 },
      { of: 'run', unit: 'turns', used: 0, limit: 9 },
      { of: 'run', unit: 'tokens', used: 0, limit: 15 },
    ]);
  });

  test('is refused to agents, and where nothing limits it', () => {
    expect(run().send({ type: 'review', verdict: 'approve', amount: { turns: 1 } })).toMatchObject({
      code: 'person_only',
    });
    expect(run().person({ type: 'review', verdict: 'approve', amount: { minutes: 1 } })).toMatchObject({
      code: 'no_budget',
    });
  });
});

describe('A1: the calls of a session without hooks are its active time', () => {
  const definition = workflow([action('a', { budget: { minutes: 5 } }), action('b')]);

  test('from the moment that the step was entered', () => {
    const run = new Run(definition);
    run.now += 3 * minute;
    run.send({ type: 'note', kind: 'decision', text: 'One' });
    expect(run.state.budget.activeMs).toBe(3 * minute);
    run.now += 3 * minute;
    expect(run.send({ type: 'note', kind: 'decision', text: 'Two' })).toMatchObject({ status: 'waiting' });
  });

  test('also after a pause, which does not count', () => {
    const run = new Run(definition);
    const call = (after: number) => {
      run.now += after;
      return run.send({ type: 'note', kind: 'decision', text: `at ${run.now}` });
    };
    for (let times = 0; times < 3; times += 1) call(minute);
    call(60 * minute);
    const { activeMs } = run.state.budget;
    call(minute);
    expect(run.state.budget.activeMs).toBe(activeMs + minute);
    call(minute);
    expect(run.state.budget.exhausted).toBe('minutes');
  });

  test('not of one with hooks, which tell it, and not where no minutes are limited', () => {
    const run = new Run(definition, { start: false });
    const facts = { witness: 'hooks' as const };
    run.send({ type: 'start', run: 'demo-20261115-k3f9x2ab', session: 'h', facts });
    run.now += 3 * minute;
    run.send({ type: 'note', kind: 'decision', text: 'One', session: 'h' });
    expect(run.state.budget.activeMs).toBe(0);
    const other = new Run(workflow([action('a', { budget: { turns: 5 } })]));
    other.now += minute;
    other.send({ type: 'note', kind: 'decision', text: 'One' });
    expect(other.types()).toEqual(['note.added']);
  });
});

test('[A1] several units: each is named, and granting one leaves the run waiting for the other', () => {
  const run = new Run(
    workflow([action('a', { budget: { turns: 2, tokens: 100 } })], { budget: { turns: 50, cost: 1 } }),
  );
  tell(run, 's', { turns: 2, tokens: 200, cost: 2 });
  expect(actions(run.definition, run.state)[0]).toMatchObject({
    for: 'budget',
    unit: 'turns',
    more: ['cost', 'tokens'],
  });
  run.person({ type: 'review', verdict: 'approve', amount: { turns: 5, cost: 5 } });
  expect(run.state).toMatchObject({ status: 'waiting', budget: { exhausted: 'tokens' } });
  run.person({ type: 'review', verdict: 'approve', amount: { tokens: 500 } });
  expect(run.state.status).toBe('running');
});
