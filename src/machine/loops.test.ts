import { describe, expect, test } from 'vitest';
import { costMeter } from '../../test/kit/cpu-time.ts';
import { build, several } from '../../test/kit/loop-run.ts';
import { action, loop, Run, workflow } from '../../test/kit/run.ts';

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

  test('tasks for a later loop do not unblock a loop whose tasks all failed', () => {
    const loops = {
      one: [{ id: 'c', instructions: 'C', on_fail: 'skip' as const }],
      two: [{ id: 'd', instructions: 'D' }],
    };
    const run = new Run(workflow([loop('one'), loop('two')], { loops }));
    run.tasks('one', 'a');
    while (run.state.status === 'running') run.send({ type: 'fail', reason: 'broken' });
    expect(run.state.blocked).toBeDefined();
    run.tasks('two', 'x');
    expect(run.state).toMatchObject({ status: 'waiting', blocked: run.state.blocked });
    expect(run.status().action).toMatchObject({ do: 'wait' });
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

  test('a status lists at most twenty ready tasks, and long chains are checked quickly', () => {
    const run = new Run(build(2, [{ id: 'code', instructions: 'C', on_fail: 'skip' }]));
    const many = Array.from({ length: 30 }, (_, index) => `t${index}`);
    expect(run.tasks('build', ...many).ready).toHaveLength(20);
    const chained = new Run(build(2, [{ id: 'code', instructions: 'C', on_fail: 'skip' }]));
    const chain = Array.from({ length: 3000 }, (_, index): [string, ...string[]] => [
      `c${index}`,
      `c${index + 1}`,
    ]);
    const spent = costMeter();
    expect(chained.tasks('build', ...chain, 'c3000')).toMatchObject({ ready: ['c3000'] });
    const at = chained.claim('A', 'c3000').at ?? '';
    expect(chained.send({ type: 'fail', reason: 'x', at })).toMatchObject({ waiting: { for: 'blocked' } });
    expect(spent()).toBeLessThan(60);
  });

  test('what ended long ago does not stand in the way of a new list', () => {
    const run = new Run(build(1, [{ id: 'code', instructions: 'C', on_fail: 'skip' }]));
    run.tasks('build', 'a', ['b', 'a', 'c'], 'c', 'd');
    run.send({ type: 'fail', reason: 'x' });
    expect(run.tasks('build', 'c', 'd', 'e')).not.toHaveProperty('code');
  });
});
