import { describe, expect, test } from 'vitest';
import { build, several } from '../../test/kit/loop-run.ts';
import { loop, Run, workflow } from '../../test/kit/run.ts';

const minute = 60_000;

describe('P2: claims and leases', () => {
  test('[P2/10] an expired lease lets another agent claim, and the epoch fences the late one', () => {
    const run = several();
    const late = run.claim('A', 'a').at ?? '';
    run.now += 29 * minute;
    expect(run.claim('B', 'a')).toMatchObject({ code: 'task_held' });
    run.now += 1 * minute;
    const taken = run.claim('B', 'a');
    expect(taken).toMatchObject({ at: late.replace('#1', '#2') });
    expect(run.state.cursors['build/a']?.lease).toMatchObject({ holder: 'B', epoch: 2 });
    expect(run.advance('late', { at: late })).toMatchObject({ code: 'stale_handle' });
    expect(run.state.outputs).toEqual({});
    expect(run.advance('in time', { at: taken.at ?? '' })).not.toHaveProperty('code');
  });

  test('[P2/10] expiry alone changes nothing: the holder goes on', () => {
    const run = several();
    const at = run.claim('A', 'a').at ?? '';
    run.now += 300 * minute;
    expect(run.advance('late but alone', { at })).not.toHaveProperty('code');
    expect(run.state.outputs).toHaveProperty(['build.a.code']);
  });

  test('[P2/10] any call of the holder renews the lease, written only when less than half is left', () => {
    const run = several();
    run.witness('A');
    const at = run.claim('A', 'a').at ?? '';
    const expires = () => run.state.cursors['build/a']?.lease?.expires;
    const first = expires();
    run.now += 15 * minute;
    run.send({ type: 'note', kind: 'decision', text: 'x', at });
    expect(expires()).toBe(first);
    run.now += 1 * minute;
    run.send({ type: 'note', kind: 'decision', text: 'y', at });
    expect(run.types()).toEqual(['lease.renewed', 'note.added']);
    expect(expires()).toBe(run.now + 30 * minute);
    run.now += 20 * minute;
    run.send({ type: 'session', session: 'A', event: { type: 'seen' } });
    expect(run.types()).toEqual(['lease.renewed']);
    run.now += 20 * minute;
    expect(run.advance('x', { at, missing: ['PLAN.md'] })).toMatchObject({ code: 'missing_artifact' });
    expect(run.types()).toEqual(['lease.renewed']);
  });

  test('[P2/10] a task that waits for a person is not taken away', () => {
    const run = several();
    const at = run.claim('A', 'a').at ?? '';
    run.send({ type: 'ask', text: 'Which way?', at });
    run.now += 60 * minute;
    expect(run.claim('B', 'a')).toMatchObject({ code: 'task_held' });
  });

  test('[P2/10] gates of an expired holder are stopped when another claims', () => {
    const run = new Run(build(2, [{ id: 'code', instructions: 'Code', gate: [{ run: 'make' }] }]));
    run.tasks('build', 'a');
    const at = run.claim('A', 'a').at ?? '';
    run.advance('coded', { at });
    const { id } = run.state.cursors['build/a']?.checking ?? { id: '' };
    run.now += 31 * minute;
    run.claim('B', 'a');
    expect(run.effects).toMatchObject([{ type: 'stopGates', id }]);
    expect(run.engine({ type: 'gatesFinished', id, receipts: [] })).toMatchObject({ code: 'stale_gates' });
  });

  test('[A10] each claim takes another task; at most `parallel` are held, and a named one of the holder is renewed', () => {
    const run = new Run(build(2));
    run.tasks('build', 'a', 'b', 'c');
    const a = run.claim('A').at;
    const b = run.claim('A');
    expect([run.status({ at: a ?? '' }).task?.id, b.task?.id]).toEqual(['a', 'b']);
    expect(run.claim('A', 'a')).toMatchObject({ at: a, task: { id: 'a' } });
    expect(run.last).toEqual([]);
    const taken = { code: 'task_held', params: { why: 'all_taken', step: 'build', held: 2, limit: 2 } };
    expect(run.claim('A')).toEqual({ ...taken, action: { do: 'continue', at: [a, b.at] } });
    expect(run.claim('C')).toEqual(taken);
    expect(run.status()).toMatchObject({ ready: [] });
    expect(run.claim('C', 'nope')).toMatchObject({
      code: 'no_task',
      params: { why: 'unknown', task: 'nope' },
    });
    expect(run.claim('C', 'a')).toMatchObject({
      code: 'task_held',
      params: { why: 'held', task: 'a' },
    });
    run.advance('x', { at: a ?? '' });
    expect(run.claim('C', 'a')).toMatchObject({
      code: 'no_task',
      params: { why: 'ended', task: 'a', end: 'done' },
    });
  });

  test('[P2/10] a claim that changes nothing is not answered with the handle of another', () => {
    const definition = workflow([loop('build', { parallel: 2, budget: { turns: 1 } })], {
      loops: { build: [{ id: 'code', instructions: 'C' }] },
    });
    const run = new Run(definition);
    run.tasks('build', 'a', 'b');
    const at = run.claim('A', 'a').at;
    run.send({ type: 'spend', turns: 1 });
    expect(run.claim('B', 'a')).not.toHaveProperty('at');
    expect(run.claim('A', 'a')).toMatchObject({ at });
  });

  test('claim is refused where there is nothing to claim', () => {
    const run = new Run(build(2));
    expect(run.claim('A')).toMatchObject({
      code: 'no_task',
      params: { why: 'not_claimable' },
      action: { do: 'continue', at: ['k3f9x2ab:build#1'] },
    });
    run.tasks('build', 'a');
    run.claim('A');
    expect(run.claim('B')).toMatchObject({
      code: 'no_task',
      params: { step: 'build', why: 'none_ready' },
    });
  });

  test('[P2/10] a late holder is not told the handle of the new one', () => {
    const run = several();
    const late = run.claim('A', 'a').at ?? '';
    run.now += 30 * minute;
    run.claim('B', 'a');
    const refused = run.advance('late', { at: late, session: 'A' });
    expect(refused).toMatchObject({ code: 'stale_handle', action: { do: 'ask_status' } });
    expect(refused).not.toHaveProperty('at');
    expect(run.advance('late', { session: 'A' })).toMatchObject({
      code: 'claim_required',
      action: { do: 'claim', ready: ['b', 'c', 'd'], own: [] },
    });
    expect(run.status({ at: late, session: 'A' })).toMatchObject({ code: 'stale_handle' });
    expect(run.advance('mine', { session: 'B' })).not.toHaveProperty('code');
  });

  test('[P2/10] refusals name the handles of the caller only', () => {
    const run = several();
    const a = run.claim('A', 'a').at ?? '';
    run.claim('B', 'b');
    const c = run.claim('A', 'c').at ?? '';
    expect(run.advance('x', { session: 'A' })).toMatchObject({
      code: 'at_required',
      params: { open: 3, waiting: false, handles: [a, c] },
    });
    expect(run.advance('x', { session: 'Z' })).toMatchObject({
      code: 'at_required',
      params: { open: 3, waiting: false, handles: [] },
    });
    expect(run.advance('x', { session: 'A', at: a.replace('#1', '#9') })).toMatchObject({
      code: 'stale_handle',
      action: { do: 'continue', at: [a, c] },
    });
  });

  test('[P2/10] the holder renews by any call, a stranger by none', () => {
    const run = several();
    const at = run.claim('A', 'a').at ?? '';
    const renewed = () => run.types().includes('lease.renewed');
    run.now += 20 * minute;
    run.status({ at, session: 'Z' });
    expect(renewed()).toBe(false);
    run.status({ session: 'A' });
    expect(renewed()).toBe(true);
    run.now += 20 * minute;
    run.claim('A');
    expect(renewed()).toBe(true);
    run.now += 20 * minute;
    run.send({ type: 'todo', content: 'x', session: 'A' });
    expect(renewed()).toBe(true);
    run.now += 20 * minute;
    run.status({ at });
    expect(renewed()).toBe(true);
  });

  test('a ready task comes before one whose lease has expired', () => {
    const run = new Run(build(2));
    run.tasks('build', 'a', 'b', 'c');
    run.claim('A', 'a');
    run.now += 31 * minute;
    expect(run.claim('B')).toMatchObject({ task: { id: 'b' } });
    expect(run.claim('C')).toMatchObject({ task: { id: 'a' }, at: 'k3f9x2ab:build/a/code#2' });
  });

  test('a reclaim keeps the tree, the feedback and what the first holder was never briefed on', () => {
    const run = new Run(
      build(2, [{ id: 'code', instructions: 'Code', context: 'clear', read_only: true, on_fail: 'retry' }]),
    );
    run.tasks('build', 'a', 'b');
    run.send({ type: 'claim', holder: 'A', session: 'A', task: 'a', tree: 't1' });
    run.now += 31 * minute;
    expect(run.claim('B', 'a')).toMatchObject({ contextAction: '/clear' });
    expect(run.state.cursors['build/a']).toMatchObject({ tree: 't1', visit: 2 });
    const at = run.status({ session: 'B' }).at ?? '';
    expect(run.advance('x', { session: 'B', at, tree: 't2' })).toMatchObject({ code: 'tree_changed' });
    run.send({ type: 'fail', reason: 'no way', session: 'B', at });
    run.now += 31 * minute;
    expect(run.claim('C', 'a')).toMatchObject({ instructions: 'Code', last_failure: 'no way' });
  });

  test('a session that takes the place of a holder goes on with its task', () => {
    const run = several();
    const at = run.claim('A', 'a').at ?? '';
    run.send({ type: 'session', session: 'A2', event: { type: 'started', from: 'A' } });
    expect(run.state.cursors['build/a']?.lease).toMatchObject({ holder: 'A2', epoch: 1 });
    expect(run.advance('coded', { at, session: 'A2' })).not.toHaveProperty('code');
  });

  test('[P2/10] a person, the engine and a session that ends renew nothing', () => {
    const run = several();
    run.witness('A');
    const at = run.claim('A', 'a').at ?? '';
    run.now += 20 * minute;
    run.person({ type: 'status', at });
    run.engine({ type: 'status', at });
    run.send({ type: 'session', session: 'A', event: { type: 'ended' } });
    expect(run.events.some(({ type }) => type === 'lease.renewed')).toBe(false);
  });

  test('[P2/10] no answer tells an agent the handle of another', () => {
    const run = several();
    const a = run.claim('A', 'a').at ?? '';
    const at = run.claim('B', 'b').at ?? '';
    expect(run.status({ session: 'A' }).held).toEqual([
      { at: a, task: 'a', holder: 'A' },
      { task: 'b', holder: 'B' },
    ]);
    expect(run.send({ type: 'claim', holder: 'B', session: 'A' })).toMatchObject({ code: 'task_held' });
    run.send({ type: 'fail', reason: 'x', at, session: 'B' });
    expect(run.send({ type: 'review', verdict: 'revise', session: 'A' })).toMatchObject({
      code: 'not_waiting',
    });
    const solo = new Run(build(2));
    solo.tasks('build', 'a', 'b');
    solo.claim('A', 'a');
    expect(solo.status({ session: 'B' })).not.toHaveProperty('at');
    expect(solo.status()).toHaveProperty('at');
  });

  test("a finished holder's repeated call is not told what the next one is doing", () => {
    const run = new Run(
      build(2, [
        { id: 'code', instructions: 'C' },
        { id: 'check', instructions: 'D', context: 'clear' },
      ]),
    );
    run.tasks('build', 'a', 'b');
    const a = run.claim('A', 'a').at ?? '';
    run.advance('coded', { at: a, session: 'A' });
    run.now += 31 * minute;
    run.claim('B', 'a');
    const reply = run.advance('coded', { at: a, session: 'A' });
    expect(reply).toMatchObject({ replayed: true });
    expect(reply).not.toHaveProperty('at');
    expect(run.state.cursors['build/a']?.boundary).toMatchObject({ session: 'B' });
  });
});
