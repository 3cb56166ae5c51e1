import { describe, expect, test } from 'vitest';
import { action, loop, Run, workflow } from '../../test/kit/run.ts';

describe('rewind and cancel', () => {
  const middle = (): Run => {
    const definition = workflow([action('a'), loop('build'), action('c')], {
      loops: { build: [{ id: 'code', instructions: 'C', gate: [{ run: 'make' }] }] },
    });
    const run = new Run(definition);
    run.advance('first');
    run.tasks('build', 't1', 't2');
    run.advance('coded 1');
    run.gates();
    return run;
  };

  test('back to a step: later receipts and handles are void, task lists stay, visits go on', () => {
    const run = middle();
    const late = run.status().at ?? '';
    run.advance('coded 2', { at: late });
    run.gates();
    expect(run.state.step).toBe('c');
    expect(run.person({ type: 'rewind', to: 'build' })).toMatchObject({
      task: { id: 't1' },
      at: 'k3f9x2ab:build/t1/code#2',
    });
    expect(Object.keys(run.state.outputs)).toEqual(['a']);
    expect(run.state.tasks.build?.byId).toEqual({
      t1: { id: 't1', title: 'Task t1' },
      t2: { id: 't2', title: 'Task t2' },
    });
    expect(run.advance('late', { at: late })).toMatchObject({ code: 'stale_handle' });
    expect(run.advance('late', { at: 'k3f9x2ab:build/t1/code#1' })).toMatchObject({ code: 'stale_handle' });
    expect(run.person({ type: 'rewind', to: 'a' })).toMatchObject({ at: 'k3f9x2ab:a#2' });
    expect(run.state.outputs).toEqual({});
  });

  test('a rewind asks for the context action of the step anew', () => {
    const run = new Run(workflow([action('a', { context: 'clear' }), action('b')]));
    run.status();
    run.advance('done');
    run.person({ type: 'rewind', to: 'a' });
    expect(run.state.cursors.a?.boundary).toMatchObject({ state: 'pending' });
    expect(run.status()).toMatchObject({ contextAction: '/clear', at: 'k3f9x2ab:a#2' });
  });

  test('an agent does not go back by itself, and the way there asks for its context action again', () => {
    const definition = workflow([action('a'), action('b', { budget: { turns: 1 } })], {
      transitions: [{ from: 'a', to: 'b', context: 'clear' }],
    });
    const run = new Run(definition);
    run.advance('done');
    run.send({ type: 'spend', turns: 1 });
    expect(run.send({ type: 'rewind', to: 'b' })).toMatchObject({ code: 'person_only' });
    expect(run.state.status).toBe('waiting');
    run.person({ type: 'rewind', to: 'b' });
    expect(run.state.cursors.b?.boundary).toEqual({ action: 'clear', state: 'pending' });
  });

  test('only to a step that was reached', () => {
    const run = middle();
    expect(run.person({ type: 'rewind', to: 'c' })).toMatchObject({
      code: 'unknown_step',
      params: { why: 'rewind', given: 'c', steps: ['a', 'build'] },
    });
    expect(run.person({ type: 'rewind', to: 'nope' })).toMatchObject({ code: 'unknown_step' });
  });

  test('a failed or complete run goes back, a cancelled one does not', () => {
    const complete = new Run(workflow([action('a'), action('b')]));
    complete.advance('x');
    complete.advance('y');
    expect(complete.person({ type: 'rewind', to: 'b' })).toMatchObject({
      status: 'running',
      at: 'k3f9x2ab:b#2',
    });
    const failed = new Run(workflow([action('a', { on_fail: 'abort' })]));
    failed.send({ type: 'fail', reason: 'x' });
    expect(failed.person({ type: 'rewind', to: 'a' })).toMatchObject({ status: 'running' });
    expect(failed.state).not.toHaveProperty('reason');
    const cancelled = new Run(workflow([action('a')]));
    cancelled.person({ type: 'cancel' });
    expect(cancelled.state.reason).toBe('cancelled');
    expect(cancelled.person({ type: 'rewind', to: 'a' })).toMatchObject({
      code: 'run_ended',
      params: { run: 'demo-20261115-k3f9x2ab', status: 'cancelled' },
    });
  });

  test.each(['agent', 'engine'] as const)('[U1] a run is not cancelled by an %s', (kind) => {
    const run = new Run(workflow([action('a')]));
    expect(run.send({ type: 'cancel', reason: 'done', actor: { kind } })).toMatchObject({
      code: 'person_only',
    });
    expect(run.state.status).toBe('running');
    expect(run.last).toEqual([]);
    expect(run.person({ type: 'cancel', reason: 'done' })).toMatchObject({ status: 'cancelled' });
  });

  test('an ended run answers, and takes nothing more', () => {
    const run = new Run(workflow([action('a')]));
    run.advance('x');
    for (const command of [
      { type: 'note', kind: 'decision', text: 'x' },
      { type: 'todo', content: 'x' },
      { type: 'ask', text: 'x' },
      { type: 'spend', turns: 1 },
      { type: 'cancel' },
      { type: 'claim', holder: 'A' },
    ] as const) {
      expect(run.send(command)).toMatchObject({
        code: 'run_ended',
        params: { run: 'demo-20261115-k3f9x2ab', status: 'complete' },
      });
    }
    expect(run.send({ type: 'start', run: 'x' })).toMatchObject({ status: 'complete' });
    expect(run.send({ type: 'session', session: 'A', event: { type: 'started' } })).toMatchObject({
      status: 'complete',
    });
    expect(run.last).toHaveLength(1);
  });
});
