import { describe, expect, test } from 'vitest';
import { action, loop, Run, workflow } from '../../test/kit/run.ts';
import type { Definition } from './index.ts';

const yes = { holds: true, values: { 'inputs.x': 'true' } };
const no = { holds: false, values: { 'inputs.x': 'false' } };

/** The engine's answer for the open position. */
function prepare(run: Run, when: typeof yes, at = run.status().at ?? '') {
  return run.send({ type: 'prepared', at, when, actor: { kind: 'engine' } });
}

const types = (run: Run): string[] => run.last.map(({ type }) => type);

describe('[L/when] a step', () => {
  const definition = workflow([action('a'), action('b', { when: 'inputs.x' }), action('c')], {
    transitions: [
      { from: 'a', to: 'b', context: 'clear' },
      { from: 'a', to: 'c', context: 'compact' },
      { from: 'b', to: 'c', context: 'clear' },
    ],
  });

  test('is prepared before it is entered, and no call moves it meanwhile', () => {
    const run = new Run(definition);
    run.advance('x');
    expect(types(run)).toEqual([
      'position.completed',
      'step.completed',
      'step.preparing',
      'position.entered',
    ]);
    const { at = '', action: next, instructions } = run.status();
    expect({ next, instructions }).toEqual({
      next: { do: 'wait', for: 'preparation', at },
      instructions: undefined,
    });
    run.advance('too early', { at });
    expect(run.last).toEqual([]);
    expect(run.state).toMatchObject({ status: 'running', step: 'b', entered: { count: 1, step: 'a' } });
    expect(prepare(run, yes)).toMatchObject({ step: 'b', contextAction: '/clear' });
    expect(types(run)).toEqual(['step.entered', 'position.entered']);
    expect(run.state.entered).toEqual({ count: 2, from: 'a' });
  });

  test('is skipped with what its condition looked at; transitions start from the last step that was entered', () => {
    const run = new Run(definition);
    run.advance('x');
    expect(prepare(run, no)).toMatchObject({ step: 'c', contextAction: '/compact' });
    expect(run.last[0]).toMatchObject({ type: 'step.skipped', step: 'b', values: no.values });
    expect(run.state).toMatchObject({
      skipped: { b: { values: no.values } },
      entered: { count: 2, from: 'a' },
    });
  });

  test('that is the last and is skipped completes the run', () => {
    const run = new Run(workflow([action('a'), action('b', { when: 'inputs.x' })]));
    run.advance('x');
    expect(prepare(run, no)).toMatchObject({ status: 'complete' });
    expect(run.status().phase).toMatchObject({ status: 'completed' });
  });

  test('that is the first and is skipped was never entered', () => {
    const run = new Run(workflow([action('a', { when: 'inputs.x' }), action('b')]));
    expect(prepare(run, no)).toMatchObject({ step: 'b' });
    expect(run.state.entered).toEqual({ count: 1 });
  });

  test('only the engine answers, once, and for the visit that asked', () => {
    const run = new Run(workflow([action('a', { when: 'inputs.x' }), action('b')]));
    const { at = '' } = run.status();
    expect(run.send({ type: 'prepared', at, when: no })).toMatchObject({ code: 'engine_only' });
    prepare(run, yes, at);
    expect(prepare(run, no, at)).toMatchObject({ code: 'stale_handle' });
    expect(run.state.step).toBe('a');
  });

  test('a condition that cannot be decided makes the run wait; revise decides it again', () => {
    const run = new Run(workflow([action('a', { when: 'inputs.x' }), action('b')]));
    const { at = '' } = run.status();
    run.send({ type: 'prepared', at, problem: 'no such thing', actor: { kind: 'engine' } });
    expect(run.status()).toMatchObject({
      status: 'waiting',
      waiting: { for: 'blocked', reason: 'no such thing' },
    });
    expect(prepare(run, no, at)).toMatchObject({ code: 'stale_handle' });
    run.person({ type: 'review', verdict: 'revise' });
    expect(run.status().action).toMatchObject({ for: 'preparation' });
    expect(prepare(run, no)).toMatchObject({ step: 'b' });
  });

  test('a rewind and a pivot decide it again, a retry does not', () => {
    const run = new Run(
      workflow([action('a', { when: 'inputs.x', on_fail: { retry: 3, then: 'wait' } }), action('b')]),
    );
    prepare(run, yes);
    run.send({ type: 'fail', reason: 'no luck' });
    expect(run.status().action).toMatchObject({ do: 'work', step: 'a' });
    run.advance('x');
    run.person({ type: 'rewind', to: 'a' });
    expect(run.status().action).toMatchObject({ for: 'preparation' });
    prepare(run, no);
    expect(run.state).toMatchObject({ step: 'b', skipped: { a: {} } });
    run.person({ type: 'rewind', to: 'a' });
    expect(run.state.skipped).toEqual({});
  });

  test('a pivot that leads to a skipped step keeps its cleared context', () => {
    const run = new Run(
      workflow([
        action('a', { when: 'inputs.x' }),
        action('b'),
        action('c', { review: { by: 'human', on_pivot: 'a' } }),
      ]),
    );
    prepare(run, no);
    run.advance('b');
    run.advance('c');
    run.person({ type: 'review', verdict: 'pivot', feedback: 'smaller' });
    expect(prepare(run, no)).toMatchObject({ step: 'b', contextAction: '/clear' });
  });
});

describe('[L/when] a sub-step', () => {
  const definition: Definition = workflow([loop('l'), action('end')], {
    loops: {
      l: [
        { id: 'test', instructions: 'Test', when: 'task.title == "a"' },
        { id: 'code', instructions: 'Code', context: 'clear' },
      ],
    },
  });

  test('is skipped for one task and done for another', () => {
    const run = new Run(definition);
    run.tasks('l', 'a', 'b');
    expect(prepare(run, no)).toMatchObject({ subStep: 'code', contextAction: '/clear' });
    expect(run.state.skipped).toMatchObject({ 'l.a.test': { values: no.values } });
    run.status();
    run.advance('not briefed yet');
    run.advance('x');
    expect(prepare(run, yes)).toMatchObject({ subStep: 'test', task: { id: 'b' }, action: { do: 'work' } });
  });

  test('keeps its lease, and another session that takes it over prepares it', () => {
    const run = new Run({ ...definition, steps: [loop('l', { parallel: 2 }), action('end')] });
    run.tasks('l', 'a', 'b');
    const { at = '' } = run.claim('one', 'a');
    run.now += 60 * 60_000;
    run.claim('two', 'a');
    expect(prepare(run, yes, at)).toMatchObject({ code: 'stale_handle' });
    const [cursor] = Object.values(run.state.cursors);
    expect(cursor).toMatchObject({ lease: { holder: 'two' }, preparing: { kind: 'when' } });
    const again = run.send({ type: 'status', session: 'two' }).at ?? '';
    prepare(run, no, again);
    expect(Object.values(run.state.cursors)).toMatchObject([{ subStep: 'code', lease: { holder: 'two' } }]);
  });

  test('tasks whose sub-steps are all skipped are done', () => {
    const run = new Run({
      ...definition,
      loops: { l: [{ id: 'test', instructions: 'Test', when: 'inputs.x' }] },
    });
    run.tasks('l', 'a');
    expect(prepare(run, no)).toMatchObject({ step: 'end' });
    expect(run.state.tasks.l?.byId.a?.end).toBe('done');
  });
});

test('[ME0] [L/when] a preparing loop hands out no task', () => {
  const run = new Run(
    workflow([loop('l', { when: 'inputs.x', parallel: 2 }), action('end')], {
      loops: { l: [{ id: 's', instructions: 'S' }] },
    }),
  );
  const { at = '' } = run.status();
  run.send({ type: 'prepared', at, problem: 'no such thing', actor: { kind: 'engine' } });
  run.tasks('l', 'a', 'b');
  expect(run.state.status).toBe('waiting');
  expect(run.status()).not.toHaveProperty('ready');
  for (const task of [undefined, 'a'])
    expect(run.claim('A', task)).toMatchObject({ code: 'no_task', params: { why: 'not_claimable' } });
  run.person({ type: 'review', verdict: 'revise' });
  expect(run.claim('A')).toMatchObject({ code: 'no_task' });
  prepare(run, yes);
  expect(run.claim('A')).toMatchObject({ step: 'l', task: { id: 'a' } });
});

test('[L/when] a loop step takes tasks while it is prepared, and asks for none if it is skipped', () => {
  const run = new Run(
    workflow([loop('l', { when: 'inputs.x' }), action('end')], {
      loops: { l: [{ id: 's', instructions: 'S' }] },
    }),
  );
  run.tasks('l', 'a');
  expect(prepare(run, yes)).toMatchObject({ step: 'l', task: { id: 'a' } });
  const other = new Run(run.definition);
  expect(prepare(other, no)).toMatchObject({ step: 'end' });
});
