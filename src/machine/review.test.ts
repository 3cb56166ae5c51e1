import { describe, expect, test } from 'vitest';
import { coding, maestro } from '../../test/kit/reviewed-run.ts';
import { action, cursor, loop, Run, workflow } from '../../test/kit/run.ts';

const minute = 60_000;

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
