import { describe, expect, test } from 'vitest';
import { boundary, required } from '../../test/kit/boundary-run.ts';
import { action, cursor, loop, Run, ralph, workflow } from '../../test/kit/run.ts';
import { instructionsFor } from './status.ts';

describe('boundaries and positions', () => {
  test('the wrapper and the driver are told to end the turn', () => {
    for (const witness of ['wrapper', 'driver'] as const) {
      const run = new Run(workflow([action('a'), action('b', { context: 'clear' })]));
      run.witness('A', witness);
      const { message } = run.advance('done', { session: 'A' });
      expect(message).toBe('Please run `/clear` first, then call workflow_status again. End your turn.');
    }
  });

  test('a retry requests nothing, a pivot always requests a clear', () => {
    const definition = workflow([
      action('plan', { context: 'compact', on_fail: 'retry', review: { by: 'human', on_pivot: 'plan' } }),
    ]);
    const run = new Run(definition);
    run.status();
    expect(run.send({ type: 'fail', reason: 'no' })).toMatchObject({ instructions: 'Do plan' });
    expect(boundary(run)).toBeUndefined();
    run.advance('a plan');
    expect(run.person({ type: 'review', verdict: 'pivot', feedback: 'Other way' })).toMatchObject({
      contextAction: '/clear',
    });
  });

  test('sub-step before step before transition', () => {
    const definition = workflow([action('plan'), loop('build', { context: 'compact' }), action('end')], {
      loops: {
        build: [
          { id: 'code', instructions: 'Code' },
          { id: 'check', instructions: 'Check', context: 'clear' },
        ],
      },
      transitions: [
        { from: 'plan', to: 'build', context: 'clear' },
        { from: 'build', to: 'end', context: 'clear' },
      ],
    });
    const run = new Run(definition);
    run.advance('planned');
    expect(run.tasks('build', 't1')).toMatchObject({ subStep: 'code', contextAction: '/compact' });
    run.status();
    expect(run.advance('coded')).toMatchObject({ subStep: 'check', contextAction: '/clear' });
    run.status();
    expect(run.advance('checked')).toMatchObject({ step: 'end', contextAction: '/clear' });
  });

  test("a transition's action goes to the first position of the step only", () => {
    const definition = workflow([action('plan'), ralph('polish', 2)], {
      transitions: [{ from: 'plan', to: 'polish', context: 'compact' }],
    });
    const run = new Run(definition);
    expect(run.advance('planned')).toMatchObject({ contextAction: '/compact', ralphIteration: 1 });
    run.status();
    expect(run.advance('better')).toMatchObject({ instructions: 'Improve polish', ralphIteration: 2 });
  });

  test("a transition's action waits until the loop has tasks", () => {
    const definition = workflow([action('plan'), loop('build')], {
      loops: { build: [{ id: 'code', instructions: 'Code' }] },
      transitions: [{ from: 'plan', to: 'build', context: 'clear' }],
    });
    const run = new Run(definition);
    expect(run.advance('planned')).not.toHaveProperty('contextAction');
    expect(run.tasks('build', 't1', 't2')).toMatchObject({ contextAction: '/clear', task: { id: 't1' } });
    run.status();
    expect(run.advance('coded')).toMatchObject({ task: { id: 't2' }, instructions: 'Code' });
  });

  test('after a lost answer the repeated call still carries the context action', () => {
    const run = new Run(workflow([action('a'), action('b', { context: 'clear' })]));
    const at = run.status().at ?? '';
    run.now += 1;
    run.witness('B');
    expect(run.advance('done', { at })).toMatchObject({ contextAction: '/clear' });
    expect(run.advance('done', { at })).toMatchObject({ contextAction: '/clear', replayed: true });
    expect(run.last).toEqual([]);
  });

  test('what a person or the engine does leaves the boundary for the agent', () => {
    const definition = workflow(
      [action('plan', { review: { by: 'human' } }), action('code', { context: 'clear' })],
      {
        boundaries: 'require',
      },
    );
    const run = new Run(definition, { session: 'A' });
    run.witness('A');
    run.advance('planned', { session: 'A' });
    run.person({ type: 'review', verdict: 'approve' });
    expect(boundary(run)).toEqual({ action: 'clear', state: 'pending' });
    run.person({ type: 'status' });
    run.engine({ type: 'status' });
    expect(boundary(run)?.state).toBe('pending');
    expect(run.status({ session: 'A' })).toMatchObject({ contextAction: '/clear' });
    expect(boundary(run)).toMatchObject({ state: 'requested', policy: 'require', session: 'A' });
    run.person({ type: 'status' });
    expect(run.last).toEqual([]);
  });

  test.each(['prefer', 'require', 'off'] as const)(
    'work on a position that was never delivered is refused (%s)',
    (policy) => {
      const definition = workflow(
        [action('a', { gate: [{ run: 'make' }] }), action('b', { context: 'clear' }), action('c')],
        {
          boundaries: policy,
        },
      );
      const run = new Run(definition, { session: 'A' });
      run.witness('A');
      run.advance('done', { session: 'A' });
      run.gates();
      expect(boundary(run)?.state).toBe('pending');
      const reply = run.advance('early', { session: 'A' });
      if (policy === 'off') return expect(reply).toMatchObject({ step: 'c' });
      expect(reply).toMatchObject({
        code: 'not_briefed',
        params: { at: 'k3f9x2ab:b#1', context: 'clear' },
        action: { do: 'ask_status' },
      });
      expect(reply).not.toHaveProperty('instructions');
      expect(run.types()).toEqual(['boundary.requested']);
      expect(run.state.outputs).not.toHaveProperty('b');
      const again = run.advance('early again', { session: 'A' });
      expect(again).toMatchObject({ code: policy === 'require' ? 'boundary_open' : 'not_briefed' });
    },
  );

  test('a person who works by hand needs no context action', () => {
    const run = required();
    expect(run.person({ type: 'advance', output: 'by hand' })).toMatchObject({ step: 'build' });
    expect(run.last[0]).toMatchObject({ type: 'boundary.released', how: 'proceeded' });
  });

  test('a review leaves the boundary of what comes next for the author', () => {
    const definition = workflow([
      action('a', { review: { by: 'critic' } }),
      action('b', { context: 'clear' }),
    ]);
    const run = new Run(definition, { session: 'A' });
    run.advance('done', { session: 'A' });
    run.send({ type: 'review', verdict: 'approve', session: 'R' });
    expect(boundary(run)).toEqual({ action: 'clear', state: 'pending' });
    expect(run.state.sessions.A?.completed).toEqual(['a']);
    expect(run.state.last).toMatchObject({ session: 'A' });
  });

  test('instructions of a required boundary stay closed while it is pending', () => {
    const definition = workflow([action('a', { gate: [{ run: 'x' }] }), action('b', { context: 'clear' })], {
      boundaries: 'require',
    });
    const run = new Run(definition, { session: 'A' });
    run.advance('done', { session: 'A' });
    run.gates();
    const open = cursor(run);
    expect(open && instructionsFor(definition, run.state, open)).toBe('');
  });
});
