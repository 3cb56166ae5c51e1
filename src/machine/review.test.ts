import { describe, expect, test } from 'vitest';
import { action, loop, Run, workflow } from '../../test/kit/run.ts';

const minute = 60_000;

/** The states of seed 003: planning, plan review, coding, testing, code review. */
const maestro = (parts: object = {}) =>
  workflow(
    [
      action('planning', { review: { by: 'human', on_pivot: 'planning' } }),
      action('coding', {
        gate: [{ run: 'npm test' }],
        review: { by: 'reviewer', on_pivot: 'planning' },
        budget: { turns: 3, tokens: 1000, minutes: 10, on_pivot: 'planning' },
      }),
      action('done'),
    ],
    { transitions: [{ from: 'planning', to: 'coding', context: 'clear' }], ...parts },
  );

const coding = (): Run => {
  const run = new Run(maestro());
  run.advance('The plan: use a queue', { tree: 't1' });
  run.person({ type: 'review', verdict: 'approve' });
  run.status();
  run.status();
  return run;
};

const cursor = (run: Run) => Object.values(run.state.cursors)[0];

describe('reviews', () => {
  test('a step with a review waits, and advance only returns the status', () => {
    const run = new Run(maestro());
    const reply = run.advance('The plan', { tree: 't1' });
    expect(reply).toMatchObject({
      status: 'waiting',
      step: 'planning',
      waiting: { for: 'review', by: 'human' },
    });
    const at = 'k3f9x2ab:planning#1';
    expect(reply.action).toEqual({ do: 'wait', for: 'review', by: 'person', at });
    expect(run.advance('Another plan')).toMatchObject({ status: 'waiting' });
    expect(run.last).toEqual([]);
    expect(run.send({ type: 'fail', reason: 'x' })).toMatchObject({ status: 'waiting' });
    expect(run.last).toEqual([]);
  });

  test('only a person decides a human review', () => {
    const run = new Run(maestro());
    run.advance('The plan');
    for (const verdict of ['approve', 'revise', 'pivot', 'escalate', 'abandon'] as const) {
      expect(run.send({ type: 'review', verdict })).toMatchObject({ code: 'person_only' });
      expect(run.send({ type: 'review', verdict, actor: { kind: 'engine' } })).toMatchObject({
        code: 'person_only',
      });
    }
    expect(run.last).toEqual([]);
  });

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

  test('[003/6] a question and its answer return to the position that asked', () => {
    const run = coding();
    const reply = run.send({ type: 'ask', text: ' Which database? ' });
    expect(reply).toMatchObject({
      status: 'waiting',
      waiting: { for: 'question', question: 'Which database?' },
    });
    expect(reply.action).toMatchObject({ do: 'wait', for: 'answer' });
    expect(run.send({ type: 'ask', text: 'Again?' })).toMatchObject({ code: 'already_waiting' });
    expect(run.state.questions).toHaveLength(1);
    expect(run.send({ type: 'answer', text: 'PostgreSQL' })).toMatchObject({ code: 'person_only' });
    expect(run.person({ type: 'answer', text: ' PostgreSQL ' })).toMatchObject({
      status: 'running',
      at: 'k3f9x2ab:coding#1',
      answers: [{ question: 'Which database?', answer: 'PostgreSQL' }],
      instructions: 'Do coding',
    });
    expect(run.person({ type: 'answer', text: 'Again' })).toMatchObject({ code: 'no_question' });
    run.advance('coded');
    run.gates();
    run.person({ type: 'review', verdict: 'approve' });
    expect(run.status()).not.toHaveProperty('answers');
  });

  test('[003/7] escalation loses nothing', () => {
    const run = coding();
    run.advance('coded', { tree: 't1' });
    run.gates({ tree: 't1' });
    const before = cursor(run);
    const reviewer = { kind: 'agent' as const, name: 'reviewer' };
    const reply = run.send({ type: 'review', verdict: 'escalate', feedback: 'Unsure', actor: reviewer });
    expect(reply).toMatchObject({
      waiting: { for: 'review', by: 'human', escalated: 'Unsure' },
    });
    const { waiting: _before, ...kept } = before ?? {};
    const { waiting: _after, ...now } = cursor(run) ?? {};
    expect(now).toEqual(kept);
    expect(run.send({ type: 'review', verdict: 'approve', actor: reviewer })).toMatchObject({
      code: 'person_only',
    });
    expect(run.person({ type: 'review', verdict: 'approve', tree: 't1' })).toMatchObject({ step: 'done' });
    expect(run.state.outputs.coding).toMatchObject({
      text: 'coded',
      receipts: [{ what: 'npm test', pass: true }],
    });
  });

  test('revise returns to the step with the feedback, and the evidence is void', () => {
    const run = coding();
    run.advance('coded');
    run.gates();
    const reply = run.person({ type: 'review', verdict: 'revise', feedback: 'Name it better' });
    expect(reply).toMatchObject({
      at: 'k3f9x2ab:coding#2',
      status: 'running',
      instructions: 'Do coding',
      feedback: '**[REVIEW_FEEDBACK]:** "Name it better"',
    });
    expect(run.advance('coded', { at: 'k3f9x2ab:coding#1' })).toMatchObject({ code: 'stale_handle' });
    run.advance('renamed');
    expect(run.types()).toEqual(['gates.requested']);
  });

  test('abandon fails the run with the reason', () => {
    const run = new Run(maestro());
    run.advance('The plan');
    run.person({ type: 'review', verdict: 'abandon', feedback: 'Not worth it' });
    expect(run.state).toMatchObject({ status: 'failed', reason: 'Not worth it' });
    const silent = new Run(maestro());
    silent.advance('The plan');
    silent.person({ type: 'review', verdict: 'abandon' });
    expect(silent.state.reason).toBe('abandoned');
  });

  test('an approval is bound to the tree that was shown: a change runs the gates again', () => {
    const run = coding();
    run.advance('coded', { tree: 't1' });
    run.gates({ tree: 't1' });
    run.person({ type: 'review', verdict: 'approve', tree: 't2' });
    expect(run.last).toMatchObject([{ type: 'gates.requested', approval: { by: 'ann' }, output: 'coded' }]);
    expect(run.person({ type: 'review', verdict: 'approve', tree: 't2' })).toMatchObject({
      code: 'checking',
    });
    expect(run.gates({ tree: 't2' })).toMatchObject({ step: 'done' });
    expect(run.state.outputs.coding).toMatchObject({ reviewed: 'ann', tree: 't2' });
  });

  test('an approval whose gates turn red opens the position again', () => {
    const run = coding();
    run.advance('coded', { tree: 't1' });
    run.gates({ tree: 't1' });
    run.person({ type: 'review', verdict: 'approve', tree: 't2' });
    run.gates({ red: true });
    expect(run.status()).toMatchObject({
      status: 'running',
      step: 'coding',
      failed_gates: [{ what: 'npm test' }],
    });
  });

  test('an approval whose gates hang can be given again after their deadline', () => {
    const run = coding();
    run.advance('coded', { tree: 't1' });
    run.gates({ tree: 't1' });
    run.person({ type: 'review', verdict: 'approve', tree: 't2' });
    run.now += 24 * 60 * minute;
    run.person({ type: 'review', verdict: 'approve', tree: 't1' });
    expect(run.types()).toContain('gates.interrupted');
    expect(run.state.step).toBe('done');
  });

  test('without gates a changed tree must be shown again', () => {
    const run = new Run(maestro());
    run.advance('The plan', { tree: 't1' });
    expect(run.person({ type: 'review', verdict: 'approve', tree: 't2' })).toMatchObject({
      code: 'tree_changed',
    });
    expect(run.types()).toEqual(['review.requested']);
    expect(run.person({ type: 'review', verdict: 'approve', tree: 't2' })).toMatchObject({ step: 'coding' });
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

  test('nothing to review is said', () => {
    const run = coding();
    expect(run.person({ type: 'review', verdict: 'approve' })).toMatchObject({ code: 'not_waiting' });
    expect(run.person({ type: 'review', verdict: 'approve', at: 'k3f9x2ab:coding#9' })).toMatchObject({
      code: 'stale_handle',
    });
    run.send({ type: 'ask', text: 'What?' });
    expect(run.person({ type: 'review', verdict: 'approve' })).toMatchObject({ code: 'not_waiting' });
  });

  test('a blocked position is tried again by a person, not approved', () => {
    const run = new Run(workflow([action('a', { gate: [{ run: 'make' }], attempts: 1 }), action('b')]));
    run.advance('x');
    run.gates({ red: true });
    expect(run.status()).toMatchObject({ status: 'waiting', waiting: { for: 'blocked' } });
    expect(run.status().action).toMatchObject({ do: 'wait', for: 'decision', at: 'k3f9x2ab:a#1' });
    expect(run.send({ type: 'review', verdict: 'revise' })).toMatchObject({ code: 'person_only' });
    expect(run.person({ type: 'review', verdict: 'approve' })).toMatchObject({ code: 'bad_verdict' });
    expect(run.person({ type: 'review', verdict: 'escalate' })).toMatchObject({ code: 'bad_verdict' });
    expect(run.person({ type: 'review', verdict: 'revise', feedback: 'Try make clean' })).toMatchObject({
      at: 'k3f9x2ab:a#2',
      status: 'running',
    });
    expect(cursor(run)).toMatchObject({ failures: 0, reds: 0 });
  });

  test('several waiting positions are told apart by their handles', () => {
    const run = new Run(
      workflow([loop('build', { parallel: 2 })], { loops: { build: [{ id: 'c', instructions: 'C' }] } }),
    );
    run.tasks('build', 'a', 'b');
    const a = run.claim('A', 'a').at ?? '';
    const b = run.claim('B', 'b').at ?? '';
    run.send({ type: 'fail', reason: 'x', at: a });
    run.send({ type: 'fail', reason: 'y', at: b });
    expect(run.state.status).toBe('waiting');
    expect(run.person({ type: 'review', verdict: 'revise' })).toMatchObject({
      code: 'at_required',
      params: { open: 2, waiting: true, handles: [a, b] },
    });
    expect(run.person({ type: 'review', verdict: 'revise', at: b })).toMatchObject({
      at: b.replace('#1', '#2'),
    });
  });

  test('several open questions are told apart by their ids', () => {
    const run = new Run(
      workflow([loop('build', { parallel: 2 })], { loops: { build: [{ id: 'c', instructions: 'C' }] } }),
    );
    run.tasks('build', 'a', 'b');
    const a = run.claim('A', 'a').at ?? '';
    const b = run.claim('B', 'b').at ?? '';
    run.send({ type: 'ask', text: 'One?', at: a });
    expect(run.state.status).toBe('running');
    run.send({ type: 'ask', text: 'Two?', at: b });
    expect(run.state.status).toBe('waiting');
    expect(run.person({ type: 'answer', text: 'x' })).toMatchObject({
      code: 'no_question',
      params: { open: ['q1', 'q2'] },
    });
    run.person({ type: 'answer', text: 'x', question: 'q2' });
    expect(run.state.cursors['build/b']?.waiting).toBeUndefined();
    expect(run.state.cursors['build/a']?.waiting).toMatchObject({ id: 'q1' });
    expect(run.person({ type: 'answer', text: 'x', question: 'q2' })).toMatchObject({
      code: 'no_question',
      params: { open: ['q1'] },
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

  test('the session that did the work does not review it, unless it names the reviewer', () => {
    const run = coding();
    run.advance('coded', { session: 'A' });
    run.gates();
    expect(run.send({ type: 'review', verdict: 'approve', session: 'A' })).toMatchObject({
      code: 'own_work',
    });
    expect(run.last).toEqual([]);
    const reviewer = { kind: 'agent' as const, name: 'reviewer' };
    expect(run.send({ type: 'review', verdict: 'approve', session: 'A', actor: reviewer })).toMatchObject({
      step: 'done',
    });
    const other = coding();
    other.advance('coded', { session: 'A' });
    other.gates();
    expect(other.send({ type: 'review', verdict: 'approve', session: 'B' })).toMatchObject({ step: 'done' });
    expect(other.state.outputs.coding?.reviewed).toBe('agent');
  });

  test('an approval that runs the gates again is recorded with its words', () => {
    const run = coding();
    run.advance('coded', { tree: 't1' });
    run.gates({ tree: 't1' });
    run.person({ type: 'review', verdict: 'approve', tree: 't2', feedback: ' Well done ' });
    run.gates({ tree: 't2' });
    expect(run.last[1]).toMatchObject({
      type: 'review.decided',
      verdict: 'approve',
      by: 'ann',
      feedback: 'Well done',
    });
  });

  test('an approval that is repeated replays', () => {
    const run = new Run(maestro());
    run.advance('The plan');
    const at = 'k3f9x2ab:planning#1';
    run.person({ type: 'review', verdict: 'approve', at });
    expect(run.person({ type: 'review', verdict: 'approve', at })).toMatchObject({
      replayed: true,
      step: 'coding',
    });
    expect(run.last).toEqual([]);
    expect(run.person({ type: 'review', verdict: 'revise', at })).toMatchObject({ code: 'not_waiting' });
  });

  test('an approval replays only what was reviewed, also when it ended the run', () => {
    const run = new Run(workflow([action('a'), action('b', { review: { by: 'human' } })]));
    run.advance('x');
    expect(run.person({ type: 'review', verdict: 'approve', at: 'k3f9x2ab:a#1' })).toMatchObject({
      code: 'not_waiting',
    });
    run.advance('y');
    const approve = { type: 'review' as const, verdict: 'approve' as const, at: 'k3f9x2ab:b#1' };
    expect(run.person(approve)).toMatchObject({ status: 'complete' });
    expect(run.person(approve)).toMatchObject({ status: 'complete', replayed: true });
    expect(run.person({ ...approve, verdict: 'abandon' })).toMatchObject({ code: 'run_ended' });
  });

  test('a plan that was revised and then given up is still kept by a pivot', () => {
    const run = new Run(maestro());
    run.advance('Plan one');
    run.person({ type: 'review', verdict: 'revise', feedback: 'More' });
    run.send({ type: 'fail', reason: 'stuck' });
    run.person({ type: 'review', verdict: 'pivot', feedback: 'Else' });
    expect(run.state.pivots[0]?.plan).toBe('Plan one');
  });

  test('a verdict for another position does not decide a budget, and an agent pivots only where the workflow says', () => {
    const run = coding();
    run.send({ type: 'spend', turns: 3 });
    expect(run.person({ type: 'review', verdict: 'abandon', at: 'k3f9x2ab:planning#9' })).toMatchObject({
      code: 'stale_handle',
    });
    expect(run.state.status).toBe('waiting');
    const agents = new Run(workflow([action('a'), action('b', { review: { by: 'critic' } })]));
    agents.advance('x');
    agents.advance('y');
    expect(agents.send({ type: 'review', verdict: 'pivot', to: 'a', session: 'R' })).toMatchObject({
      code: 'no_pivot',
    });
    expect(agents.person({ type: 'review', verdict: 'pivot', to: 'a' })).toMatchObject({ step: 'a' });
  });
});

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
