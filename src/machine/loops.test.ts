import { describe, expect, test } from 'vitest';
import { cpuTimer } from '../../test/kit/cpu-time.ts';
import { action, loop, Run, workflow } from '../../test/kit/run.ts';
import type { Definition, SubStep } from '../schema/index.ts';

const minute = 60_000;

const build = (
  parallel: number,
  subSteps: SubStep[] = [{ id: 'code', instructions: 'Code {task.title}' }],
): Definition =>
  workflow([loop('build', parallel === 1 ? {} : { parallel }), action('end')], {
    loops: { build: subSteps },
  });

const several = (): Run => {
  const run = new Run(build(3));
  run.tasks('build', 'a', 'b', 'c', 'd');
  return run;
};

describe('P2: loops', () => {
  test('[P2/1] a run stands on exactly one main step, and each started task has a cursor', () => {
    const run = several();
    run.claim('A', 'a');
    run.claim('B', 'b');
    expect(run.state.step).toBe('build');
    expect(Object.keys(run.state.cursors)).toEqual(['build/a', 'build/b']);
    expect(run.state.cursors['build/a']).toMatchObject({
      subStep: 'code',
      visit: 1,
      failures: 0,
      lease: { holder: 'A' },
    });
  });

  test('[P2/2] a task is blocked, ready, held, then done, failed or skipped', () => {
    const run = new Run(build(2, [{ id: 'code', instructions: 'Code', on_fail: 'skip' }]));
    run.tasks('build', 'a', ['b', 'a'], 'c', ['d', 'c'], ['e', 'd']);
    expect(run.status()).toMatchObject({ held: [], ready: ['a', 'c'] });
    expect(run.claim('B', 'b')).toMatchObject({
      code: 'no_task',
      params: { step: 'build', why: 'depends', task: 'b', on: ['a'] },
      action: { do: 'ask_status' },
    });
    const a = run.claim('A', 'a').at ?? '';
    expect(run.claim('B', 'a')).toMatchObject({ code: 'task_held' });
    run.advance('coded', { at: a });
    expect(run.state.tasks.build?.byId.a?.end).toBe('done');
    expect(run.status()).toMatchObject({ ready: ['b', 'c'] });
    const c = run.claim('A', 'c').at ?? '';
    run.send({ type: 'fail', reason: 'broken', at: c });
    expect(run.last).toMatchObject([
      { type: 'position.failed' },
      { type: 'task.ended', task: 'c', end: 'failed' },
      { type: 'task.ended', task: 'd', end: 'skipped' },
      { type: 'task.ended', task: 'e', end: 'skipped' },
    ]);
  });

  test("[P2/3] with parallel 1 tasks are claimed by themselves and the status looks like the seeds'", () => {
    const run = new Run(build(1));
    expect(run.tasks('build', 'a', 'b')).toMatchObject({
      status: 'running',
      step: 'build',
      stepType: 'loop',
      task: { index: 0, id: 'a', title: 'Task a', total: 2 },
      subStep: 'code',
      agent: null,
      instructions: 'Code Task a',
      progress: { currentStep: 1, totalSteps: 2, completedTasks: 0, totalTasks: 2 },
    });
    expect(run.advance('coded')).toMatchObject({
      task: { index: 1, id: 'b' },
      progress: { completedTasks: 1 },
    });
    expect(run.claim('A')).toMatchObject({ code: 'no_task' });
  });

  test('[P2/4] status with a handle is that cursor; without, the only held one, else a list without instructions', () => {
    const run = several();
    const a = run.claim('A', 'a').at ?? '';
    expect(run.status()).toMatchObject({ at: a, instructions: 'Code Task a' });
    const b = run.claim('B', 'b').at ?? '';
    expect(run.status({ at: b })).toMatchObject({ at: b, task: { id: 'b' }, instructions: 'Code Task b' });
    const list = run.status();
    expect(list).toMatchObject({
      held: [
        { at: a, task: 'a', holder: 'A' },
        { at: b, task: 'b', holder: 'B' },
      ],
      ready: ['c', 'd'],
    });
    expect(list).not.toHaveProperty('instructions');
    expect(list).not.toHaveProperty('at');
  });

  test('[P2/5] advance needs the handle when more than one task is held', () => {
    const run = several();
    const a = run.claim('A', 'a').at ?? '';
    const b = run.claim('B', 'b').at ?? '';
    expect(run.advance('coded')).toMatchObject({
      code: 'at_required',
      params: { open: 2, waiting: false, handles: [a, b] },
    });
    run.advance('coded', { at: a });
    expect(run.state.outputs).toHaveProperty(['build.a.code']);
    expect(run.advance('coded too')).not.toHaveProperty('code');
    expect(run.state.outputs).toHaveProperty(['build.b.code']);
    expect(run.advance('more')).toMatchObject({
      code: 'claim_required',
      params: { step: 'build' },
      action: { do: 'claim', ready: ['c', 'd'] },
    });
  });

  test("[P2/5] an agent that finished its task is not shown another agent's", () => {
    const run = several();
    const a = run.claim('A', 'a').at ?? '';
    run.claim('B', 'b');
    const done = run.advance('coded', { at: a });
    expect(done).not.toHaveProperty('at');
    expect(done).toMatchObject({ ready: ['c', 'd'], held: [{ task: 'b' }] });
  });

  test('[P2/6] a boundary belongs to one cursor and its holder', () => {
    const run = new Run(build(2, [{ id: 'code', instructions: 'Code', context: 'clear' }]));
    run.tasks('build', 'a', 'b');
    expect(run.claim('A', 'a')).toMatchObject({ contextAction: '/clear' });
    expect(run.claim('B', 'b')).toMatchObject({ contextAction: '/clear' });
    run.send({ type: 'boundary', by: 'hook', saw: 'clear', session: 'A' });
    expect(run.state.cursors['build/a']?.boundary).toMatchObject({ state: 'released' });
    expect(run.state.cursors['build/b']?.boundary).toMatchObject({ state: 'requested', session: 'B' });
  });

  test('[P2/7] outputs stand under step.task.subStep, and a task sees its own by the name of the sub-step', () => {
    const check = {
      id: 'check',
      instructions: '{outputs.code}, not {outputs.build.t1.code}; {outputs.plan}',
    };
    const definition = workflow([action('plan'), loop('build')], {
      loops: { build: [{ id: 'code', instructions: 'C' }, check] },
    });
    const run = new Run(definition);
    run.advance('the plan');
    run.tasks('build', 't1', 't2');
    run.advance('code 1');
    run.advance('check 1');
    expect(run.advance('code 2')).toMatchObject({
      subStep: 'check',
      instructions: 'code 2, not code 1; the plan',
    });
    run.advance('check 2');
    const keys = ['plan', 'build.t1.code', 'build.t1.check', 'build.t2.code', 'build.t2.check'];
    expect(Object.keys(run.state.outputs)).toEqual(keys);
  });

  test('[P2/8] fail: retry keeps the holder and takes the next visit', () => {
    const run = new Run(build(2, [{ id: 'code', instructions: 'Code', on_fail: 'retry', attempts: 1 }]));
    run.tasks('build', 'a', 'b');
    const at = run.claim('A', 'a').at ?? '';
    expect(run.send({ type: 'fail', reason: 'x', at })).toMatchObject({ at: at.replace('#1', '#2') });
    expect(run.state.cursors['build/a']).toMatchObject({
      visit: 2,
      failures: 1,
      lease: { holder: 'A', epoch: 1 },
    });
    expect(run.send({ type: 'fail', reason: 'x', at })).toMatchObject({ replayed: true });
    expect(run.state.cursors['build/a']?.failures).toBe(1);
    run.send({ type: 'fail', reason: 'y', at: at.replace('#1', '#2') });
    expect(run.state.cursors['build/a']?.waiting).toMatchObject({ kind: 'blocked', reason: 'y' });
    expect(run.state.status).toBe('running');
    expect(run.status({ at: at.replace('#1', '#2') })).toMatchObject({ phase: { status: 'blocked' } });
  });

  test('[P2/8] fail: skip fails the task and skips its dependants, wherever they stand in the list', () => {
    const run = new Run(build(1, [{ id: 'code', instructions: 'Code', on_fail: 'skip' }]));
    run.tasks('build', ['z', 'y'], ['y', 'a'], 'a', 'b');
    expect(run.status()).toMatchObject({ task: { id: 'a' } });
    expect(run.send({ type: 'fail', reason: 'x' })).toMatchObject({ task: { id: 'b' } });
    const byId = run.state.tasks.build?.byId;
    expect([byId?.a?.end, byId?.y?.end, byId?.z?.end]).toEqual(['failed', 'skipped', 'skipped']);
  });

  test('[P2/8] fail: abort fails the run, and other holders are told at their next call', () => {
    const run = new Run(build(2, [{ id: 'code', instructions: 'Code', on_fail: 'abort' }]));
    run.tasks('build', 'a', 'b');
    const a = run.claim('A', 'a').at ?? '';
    const b = run.claim('B', 'b').at ?? '';
    run.send({ type: 'fail', reason: 'the disk is full', at: a });
    expect(run.advance('coded', { at: b })).toMatchObject({ status: 'failed', reason: 'the disk is full' });
    expect(run.last).toEqual([]);
    expect(run.claim('C')).toMatchObject({ code: 'run_ended' });
  });

  test('[P2/9] the loop ends when every task has ended; if none is done the run waits', () => {
    const run = new Run(build(1, [{ id: 'code', instructions: 'Code', on_fail: 'skip' }]));
    run.tasks('build', 'a', 'b');
    run.send({ type: 'fail', reason: 'x' });
    expect(run.advance('coded')).toMatchObject({ step: 'end' });

    const lost = new Run(build(1, [{ id: 'code', instructions: 'Code', on_fail: 'skip' }]));
    lost.tasks('build', 'a', ['b', 'a']);
    const reply = lost.send({ type: 'fail', reason: 'x' });
    expect(reply).toMatchObject({
      status: 'waiting',
      waiting: { for: 'blocked' },
      phase: { status: 'blocked' },
    });
    expect(reply.action).toEqual({ do: 'wait', for: 'decision', step: 'build' });
    expect(lost.tasks('build', 'c')).toMatchObject({ status: 'running', task: { id: 'c' } });
    expect(lost.advance('coded')).toMatchObject({ step: 'end' });
  });

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

  test('[P2/10] a task that waits for somebody is not taken away', () => {
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

  test("a transition's action reaches every agent with its first sub-step", () => {
    const definition = workflow([action('plan'), loop('build', { parallel: 2 }), action('end')], {
      loops: {
        build: [
          { id: 'code', instructions: 'C' },
          { id: 'check', instructions: 'D' },
        ],
      },
      transitions: [{ from: 'plan', to: 'build', context: 'clear' }],
    });
    const run = new Run(definition);
    run.advance('planned');
    run.tasks('build', 'a', 'b');
    for (const [holder, task] of [
      ['A', 'a'],
      ['B', 'b'],
    ] as const) {
      const at = run.claim(holder, task).at ?? '';
      expect(run.state.cursors[`build/${task}`]?.boundary).toMatchObject({
        action: 'clear',
        state: 'requested',
      });
      run.status({ at, session: holder });
      expect(run.advance('coded', { at, session: holder })).toMatchObject({
        subStep: 'check',
        instructions: 'D',
      });
    }
  });

  test('when every held task waits, the status names them', () => {
    const run = new Run(build(2));
    run.tasks('build', 'a', 'b');
    const a = run.claim('A', 'a').at ?? '';
    const b = run.claim('B', 'b').at ?? '';
    run.send({ type: 'ask', text: 'One?', at: a });
    run.send({ type: 'fail', reason: 'x', at: b });
    expect(run.status()).toMatchObject({
      status: 'waiting',
      held: [{ waiting: 'question' }, { waiting: 'blocked' }],
      action: {
        do: 'claim',
        ready: [],
        own: [],
        decisions: [
          { task: 'a', at: a, kind: 'question' },
          { task: 'b', at: b, kind: 'blocked' },
        ],
      },
    });
  });

  test('a loop whose tasks all failed is run again, left for another plan, or abandoned by a person', () => {
    const lost = (): Run => {
      const definition = workflow(
        [action('plan'), loop('build', { budget: { turns: 9, on_pivot: 'plan' } })],
        {
          loops: { build: [{ id: 'code', instructions: 'C', on_fail: 'skip' }] },
        },
      );
      const run = new Run(definition);
      run.advance('planned');
      run.tasks('build', 'a');
      run.send({ type: 'fail', reason: 'x' });
      return run;
    };
    expect(lost().send({ type: 'review', verdict: 'revise' })).toMatchObject({ code: 'person_only' });
    expect(lost().person({ type: 'review', verdict: 'approve' })).toMatchObject({ code: 'bad_verdict' });
    expect(lost().person({ type: 'review', verdict: 'revise' })).toMatchObject({
      at: 'k3f9x2ab:build/a/code#2',
    });
    expect(lost().person({ type: 'review', verdict: 'pivot' })).toMatchObject({
      step: 'plan',
      contextAction: '/clear',
    });
    expect(lost().person({ type: 'review', verdict: 'abandon' })).toMatchObject({ status: 'failed' });
    expect(lost().tasks('build', 'a')).toMatchObject({
      code: 'bad_tasks',
      params: { step: 'build', problem: { is: 'all_ended' } },
    });
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

  test('a status lists at most twenty ready tasks, and long chains are checked quickly', () => {
    const run = new Run(build(2, [{ id: 'code', instructions: 'C', on_fail: 'skip' }]));
    const many = Array.from({ length: 30 }, (_, index) => `t${index}`);
    expect(run.tasks('build', ...many).ready).toHaveLength(20);
    const chained = new Run(build(2, [{ id: 'code', instructions: 'C', on_fail: 'skip' }]));
    const chain = Array.from({ length: 3000 }, (_, index): [string, ...string[]] => [
      `c${index}`,
      `c${index + 1}`,
    ]);
    const spent = cpuTimer();
    expect(chained.tasks('build', ...chain, 'c3000')).toMatchObject({ ready: ['c3000'] });
    const at = chained.claim('A', 'c3000').at ?? '';
    expect(chained.send({ type: 'fail', reason: 'x', at })).toMatchObject({ waiting: { for: 'blocked' } });
    expect(spent()).toBeLessThan(3000);
  });

  test('what ended long ago does not stand in the way of a new list', () => {
    const run = new Run(build(1, [{ id: 'code', instructions: 'C', on_fail: 'skip' }]));
    run.tasks('build', 'a', ['b', 'a', 'c'], 'c', 'd');
    run.send({ type: 'fail', reason: 'x' });
    expect(run.tasks('build', 'c', 'd', 'e')).not.toHaveProperty('code');
  });
});

describe('setTasks', () => {
  test('a loop is named by its own id or by its step', () => {
    const definition = workflow([action('plan'), loop('build', { loop: 'cycle' })], {
      loops: { cycle: [{ id: 'code', instructions: 'C' }] },
    });
    const run = new Run(definition);
    expect(run.tasks('cycle', 'a')).not.toHaveProperty('code');
    expect(run.tasks('build', 'a', 'b')).not.toHaveProperty('code');
    expect(run.state.tasks.cycle?.order).toEqual(['a', 'b']);
    expect(run.tasks('nope', 'a')).toMatchObject({
      code: 'unknown_loop',
      params: { given: 'nope', loops: ['cycle'] },
    });
    expect(new Run(workflow([action('x')])).tasks('x', 'a')).toMatchObject({
      code: 'unknown_loop',
      params: { loops: [] },
    });
  });

  test('tasks that were set ahead open the loop when it is reached', () => {
    const run = new Run(
      workflow([action('plan'), loop('build')], { loops: { build: [{ id: 'code', instructions: 'C' }] } }),
    );
    run.tasks('build', 'a');
    expect(run.state.step).toBe('plan');
    expect(run.advance('planned')).toMatchObject({ task: { id: 'a' }, subStep: 'code' });
  });

  describe('[A2] a loop is not skipped by an agent', () => {
    test('an empty list waits for a person, who may approve leaving the loop', () => {
      const run = new Run(build(1));
      expect(run.tasks('build')).toMatchObject({
        status: 'waiting',
        step: 'build',
        waiting: { for: 'review', by: 'human', leaves: 'build' },
        action: { do: 'wait', for: 'review', by: 'person', leaves: 'build', at: 'k3f9x2ab:build#1' },
      });
      run.tasks('build');
      expect(run.last).toEqual([]);
      expect(run.send({ type: 'review', verdict: 'approve' })).toMatchObject({ code: 'person_only' });
      expect(run.person({ type: 'review', verdict: 'approve' })).toMatchObject({ step: 'end' });
      expect(run.last.map(({ type }) => type)).toEqual([
        'review.decided',
        'position.completed',
        'tasks.set',
        'step.completed',
        'step.entered',
        'position.entered',
      ]);
    });

    test('a person may ask for tasks instead, and the agent may set some after all', () => {
      const run = new Run(build(1));
      run.tasks('build');
      expect(run.person({ type: 'review', verdict: 'revise', feedback: 'Two at least' })).toMatchObject({
        status: 'running',
        at: 'k3f9x2ab:build#2',
        feedback: '**[REVIEW_FEEDBACK]:** "Two at least"',
      });
      run.tasks('build');
      expect(run.tasks('build', 'a')).toMatchObject({ status: 'running', task: { id: 'a' } });
    });

    test('it is not emptied ahead, where no person would be asked', () => {
      const run = new Run(
        workflow([action('plan'), loop('build'), action('end')], {
          loops: { build: [{ id: 'c', instructions: 'C' }] },
        }),
      );
      expect(run.tasks('build')).toMatchObject({
        code: 'bad_tasks',
        params: { step: 'build', problem: { is: 'nothing_left' } },
      });
      expect(run.advance('planned')).toMatchObject({ step: 'build' });
    });

    test('nor by a list that names nothing but tasks that have ended', () => {
      const run = new Run(
        workflow([action('plan'), loop('build'), action('end')], {
          loops: { build: [{ id: 'c', instructions: 'C' }] },
        }),
      );
      run.tasks('build', 'a', 'b');
      run.person({ type: 'dropTask', task: 'a', reason: 'not needed' });
      expect(run.tasks('build', 'a')).toMatchObject({ code: 'bad_tasks' });
      expect(run.advance('planned')).toMatchObject({ task: { id: 'b' } });
    });

    test('nor by an empty list for a later loop, which says nothing of this one', () => {
      const two = () =>
        new Run(
          workflow([loop('one'), loop('two'), action('end')], {
            loops: { one: [{ id: 'c', instructions: 'C' }], two: [{ id: 'c', instructions: 'C' }] },
          }),
        );
      const open = two();
      expect(open.tasks('two')).toMatchObject({ code: 'bad_tasks' });
      expect(open.status()).toMatchObject({ status: 'running' });
      const asking = two();
      asking.send({ type: 'ask', text: 'Which?' });
      asking.tasks('two');
      expect(asking.status()).toMatchObject({ waiting: { for: 'question' } });
      const blocked = two();
      blocked.send({ type: 'fail', reason: 'x' });
      blocked.tasks('two');
      blocked.tasks('one', 'a');
      expect(blocked.status()).toMatchObject({ waiting: { for: 'blocked' } });
    });

    test('an approval is given once: repeating it replays, and after a rewind the loop asks again', () => {
      const run = new Run(build(1));
      const { at } = run.tasks('build');
      const approve = { type: 'review' as const, verdict: 'approve' as const, ...(at ? { at } : {}) };
      run.person(approve);
      expect(run.person(approve)).toMatchObject({ replayed: true, step: 'end' });
      expect(run.last).toEqual([]);
      expect(run.person({ type: 'rewind', to: 'build' })).toMatchObject({ step: 'build', status: 'running' });
      expect(run.tasks('build', 'a')).toMatchObject({ task: { id: 'a' } });
    });

    test("a person's own empty list leaves it at once", () => {
      const run = new Run(build(1));
      expect(run.person({ type: 'setTasks', loop: 'build', tasks: [] })).toMatchObject({ step: 'end' });
    });

    test.each([1, 2])('a list never leaves out an unfinished task, with parallel %i', (parallel) => {
      const run = new Run(build(parallel));
      run.tasks('build', 'a', 'b', ['c', 'b']);
      if (parallel > 1) run.claim('A', 'a');
      for (const ids of [[], ['a'], ['b', 'c'], ['a', 'b', 'd']]) {
        const refused = run.tasks('build', ...ids);
        const leftOut = ['a', 'b', 'c'].filter((each) => !ids.includes(each));
        expect(refused).toEqual({
          code: 'task_left_out',
          params: { tasks: leftOut.map((id) => ({ id, title: `Task ${id}` })), more: 0 },
        });
        expect(run.last).toEqual([]);
      }
      const by = { actor: { kind: 'person' as const, name: 'ann' } };
      expect(run.send({ type: 'setTasks', loop: 'build', tasks: [], ...by })).toMatchObject({
        code: 'task_left_out',
      });
      expect(run.tasks('build', 'a', 'b', ['c', 'b'], 'd')).not.toHaveProperty('code');
    });

    test('before the loop is reached a plan may still change', () => {
      const run = new Run(
        workflow([action('plan'), loop('build')], { loops: { build: [{ id: 'c', instructions: 'C' }] } }),
      );
      run.tasks('build', 'a', 'b');
      expect(run.tasks('build', 'b')).not.toHaveProperty('code');
      expect(run.advance('planned')).toMatchObject({ task: { id: 'b', total: 1 } });
    });
  });

  describe('[A2] a person removes a task', () => {
    const drop = (run: Run, task: string, reason = 'not needed') =>
      run.person({ type: 'dropTask', task, reason });

    test('it stays in the list with the reason, the status shows it, and no list brings it back', () => {
      const run = new Run(build(1));
      run.tasks('build', 'a', 'b', ['c', 'b']);
      expect(drop(run, 'b')).toMatchObject({
        task: { id: 'a', total: 2 },
        progress: { totalTasks: 2 },
        dropped: [{ task: 'b', title: 'Task b', reason: 'not needed' }],
      });
      expect(run.last).toMatchObject([
        { type: 'task.dropped', loop: 'build', task: 'b', reason: 'not needed', by: 'ann' },
      ]);
      run.tasks('build', 'a', 'b', ['c', 'b']);
      expect(run.advance('coded a')).toMatchObject({ task: { id: 'c', index: 1 } });
      expect(run.advance('coded c')).toMatchObject({ step: 'end', dropped: [{ task: 'b' }] });
    });

    test('also the one that is worked on: its gates stop, its handle is stale, the next one opens', () => {
      const run = new Run(build(1, [{ id: 'code', instructions: 'C', gate: [{ run: 'npm test' }] }]));
      const at = run.tasks('build', 'a', 'b').at ?? '';
      run.advance('coded', { at });
      const id = run.state.cursors['build/a']?.checking?.id;
      expect(drop(run, 'a')).toMatchObject({ task: { id: 'b', index: 0, total: 1 } });
      expect(run.effects).toMatchObject([{ type: 'stopGates', id }]);
      expect(run.advance('coded', { at })).toMatchObject({ code: 'stale_handle' });
    });

    test('the last one leaves the loop, and after a rewind the loop asks for tasks', () => {
      const run = new Run(build(2));
      run.tasks('build', 'a', 'b');
      drop(run, 'a');
      expect(run.status()).toMatchObject({ ready: ['b'] });
      expect(drop(run, 'b')).toMatchObject({ step: 'end' });
      expect(run.person({ type: 'rewind', to: 'build' })).toMatchObject({ at: 'k3f9x2ab:build#2' });
    });

    test('a loop whose other tasks all failed still waits for a person', () => {
      const run = new Run(build(1, [{ id: 'code', instructions: 'C', on_fail: 'skip' }]));
      run.tasks('build', 'a', 'b');
      drop(run, 'b');
      expect(run.send({ type: 'fail', reason: 'x' })).toMatchObject({ waiting: { for: 'blocked' } });
    });

    test('only a person does, only with a reason, and only a task that is unfinished', () => {
      const run = new Run(build(1));
      run.tasks('build', 'a', 'b');
      expect(run.send({ type: 'dropTask', task: 'a', reason: 'x' })).toMatchObject({ code: 'person_only' });
      expect(run.engine({ type: 'dropTask', task: 'a', reason: 'x' })).toMatchObject({ code: 'person_only' });
      expect(drop(run, 'a', ' ')).toMatchObject({ code: 'bad_note' });
      expect(drop(run, 'nope')).toMatchObject({ code: 'no_task' });
      expect(drop(run, 'constructor')).toMatchObject({ code: 'no_task' });
      run.advance('coded a');
      expect(drop(run, 'a')).toMatchObject({ code: 'no_task' });
      expect(run.person({ type: 'dropTask', task: 'b', reason: 'x', loop: 'other' })).toMatchObject({
        code: 'no_task',
      });
    });
  });

  test('a loop without a list refuses to advance and says how to go on', () => {
    const run = new Run(build(1));
    expect(run.advance('x')).toMatchObject({
      code: 'needs_tasks',
      at: 'k3f9x2ab:build#1',
      params: { step: 'build' },
    });
  });

  test.each([
    [['a', ['b', 'c'], ['c', 'b']], { is: 'circle', tasks: ['b', 'c', 'b'] }],
    [['a', ['b', 'z']], { is: 'unknown_dependency', task: 'b', on: 'z' }],
    [['a', 'a'], { is: 'duplicate', task: 'a' }],
    [['a b'], { is: 'bad_id', task: 'a b' }],
    [[['a', 'a']], { is: 'circle', tasks: ['a', 'a'] }],
    [['__proto__'], { is: 'bad_id', task: '__proto__' }],
  ] as const)('bad lists are refused whole: %j', (ids, problem) => {
    const run = new Run(build(1));
    const reply = run.tasks('build', ...(ids as unknown as string[]));
    expect(reply).toEqual({ code: 'bad_tasks', params: { step: 'build', problem } });
    expect(run.last).toEqual([]);
  });

  test('a title must say something, and five thousand tasks are enough', () => {
    const run = new Run(build(1));
    expect(run.send({ type: 'setTasks', loop: 'build', tasks: [{ id: 'a', title: ' ' }] })).toMatchObject({
      params: { problem: { is: 'no_title', task: 'a' } },
    });
    const many = Array.from({ length: 5001 }, (_, index) => `t${index}`);
    expect(run.tasks('build', ...many)).toMatchObject({
      params: { problem: { is: 'too_many', count: 5001, limit: 5000 } },
    });
    expect(run.tasks('build', ...many.slice(1))).not.toHaveProperty('code');
  });

  test('a list given again replaces what has not been started and keeps the rest', () => {
    const run = new Run(build(1));
    run.tasks('build', 'a', 'b', 'c');
    run.advance('coded a');
    expect(run.tasks('build', 'd', 'a', 'c', 'b')).toMatchObject({ task: { id: 'b' } });
    expect(run.state.tasks.build?.order).toEqual(['a', 'b', 'd', 'c']);
    expect(run.state.tasks.build?.byId.a?.end).toBe('done');
  });

  test('a new task cannot depend on one that failed', () => {
    const run = new Run(build(1, [{ id: 'code', instructions: 'C', on_fail: 'skip' }]));
    run.tasks('build', 'a', 'b');
    run.send({ type: 'fail', reason: 'x' });
    expect(run.tasks('build', 'b', ['n', 'a'])).toMatchObject({
      params: { problem: { is: 'lost_dependency', task: 'n', on: 'a', end: 'failed' } },
    });
  });

  test('the tasks of a loop that is over stay as they are', () => {
    const run = new Run(build(1));
    run.tasks('build', 'a');
    run.advance('coded');
    expect(run.tasks('build', 'b')).toMatchObject({
      code: 'bad_tasks',
      params: { step: 'build', problem: { is: 'loop_over' } },
    });
  });

  test('tasks of a loop that is called like an earlier step leave that step open', () => {
    const run = new Run(
      workflow([action('build'), loop('impl', { loop: 'build' })], {
        loops: { build: [{ id: 'code', instructions: 'C' }] },
      }),
    );
    run.tasks('build', 'a');
    expect(run.advance('built')).toMatchObject({ step: 'impl', task: { id: 'a' } });
  });

  test('ids that every object has are ordinary ids', () => {
    const run = new Run(build(1));
    run.tasks('build', 'constructor', ['toString', 'constructor']);
    expect(run.advance('x')).toMatchObject({ task: { id: 'toString' } });
    expect(run.advance('y')).toMatchObject({ step: 'end' });
  });

  test('nothing is set while the budget is used up, or while the loop asks a question', () => {
    const definition = workflow([loop('build', { budget: { turns: 1 } }), action('end')], {
      loops: { build: [{ id: 'code', instructions: 'C' }] },
    });
    const run = new Run(definition);
    run.send({ type: 'spend', turns: 1 });
    expect(run.tasks('build')).toMatchObject({ status: 'waiting', step: 'build' });
    expect(run.last).toEqual([]);
    const asking = new Run(build(1));
    asking.send({ type: 'ask', text: 'Which tasks?' });
    expect(asking.tasks('build', 'a')).toMatchObject({ status: 'waiting' });
    expect(asking.last).toEqual([]);
  });
});
