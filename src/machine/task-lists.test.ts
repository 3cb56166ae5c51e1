import { describe, expect, test } from 'vitest';
import { build } from '../../test/kit/loop-run.ts';
import { action, loop, Run, workflow } from '../../test/kit/run.ts';

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

  test('[S2] a list has at most 20,000 dependencies', () => {
    const list = (each: number) =>
      Array.from({ length: 300 }, (_, index) => ({
        id: `t${index}`,
        title: 'T',
        depends_on: Array.from({ length: Math.min(index, each) }, (_, other) => `t${other}`),
      }));
    const run = new Run(build(1));
    expect(run.send({ type: 'setTasks', loop: 'build', tasks: list(100) })).toMatchObject({
      params: { problem: { is: 'too_many_dependencies', limit: 20_000 } },
    });
    expect(run.send({ type: 'setTasks', loop: 'build', tasks: list(60) })).not.toHaveProperty('code');
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
