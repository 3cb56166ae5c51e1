import { describe, expect, test } from 'vitest';
import { boundary, required, start } from '../../test/kit/boundary-run.ts';
import { action, loop, Run, workflow } from '../../test/kit/run.ts';
import { mayStop } from './may-stop.ts';

describe('boundaries and sessions', () => {
  test('require without a witness becomes prefer, and that is recorded', () => {
    const run = start('require');
    expect(run.events.at(-1)).toMatchObject({
      type: 'boundary.requested',
      policy: 'prefer',
      downgraded: true,
    });
    expect(run.status({ session: 'A' })).toMatchObject({ instructions: 'Do plan' });
    expect(required().last.at(-1)).not.toHaveProperty('downgraded');
  });

  test('a call without a session downgrades nothing while a session is there that can see a reset', () => {
    const begun = (): Run => {
      const run = new Run(
        workflow([action('intro'), action('plan', { context: 'clear' })], { boundaries: 'require' }),
      );
      run.witness('A');
      return run;
    };
    const run = begun();
    run.advance('introduced');
    expect(boundary(run)).toMatchObject({ state: 'requested', policy: 'require' });
    const alone = begun();
    alone.send({ type: 'session', session: 'A', event: { type: 'ended' } });
    alone.advance('introduced');
    expect(boundary(alone)).toMatchObject({ policy: 'prefer' });
  });

  test('a session without hooks does not count as new where a reset is required', () => {
    const at = 'k3f9x2ab:plan#1';
    const run = required();
    run.now += 1;
    run.send({ type: 'session', session: 'shell', event: { type: 'started' } });
    expect(run.status({ session: 'shell', at })).toMatchObject({ contextAction: '/clear' });
    expect(run.advance('done', { session: 'shell', at })).toMatchObject({ code: 'boundary_open' });
  });

  test('a witness of the starting session counts from the first step on', () => {
    const run = new Run(workflow([action('plan', { context: 'clear' })], { boundaries: 'require' }), {
      start: false,
    });
    run.send({ type: 'start', run: 'demo-1-abc', session: 'A', facts: { witness: 'hooks' } });
    expect(run.events.at(-1)).toMatchObject({ type: 'boundary.requested', policy: 'require' });
    expect(run.state.sessions.A).toMatchObject({ witness: 'hooks' });
  });

  test('a person lets a required boundary pass, an agent cannot', () => {
    const run = required();
    expect(run.send({ type: 'proceed' })).toMatchObject({ code: 'person_only' });
    expect(run.person({ type: 'proceed' })).toMatchObject({ instructions: 'Do plan' });
    expect(run.person({ type: 'proceed' })).toMatchObject({ code: 'no_boundary' });
  });

  test('a session that was bound before the position began is not a new one', () => {
    const run = new Run(
      workflow([action('intro'), action('plan', { context: 'clear' }), action('end')], {
        boundaries: 'require',
      }),
    );
    run.witness('A');
    run.witness('B');
    run.now += 3_600_000;
    run.advance('introduced', { session: 'A' });
    const at = 'k3f9x2ab:plan#1';
    expect(run.status({ session: 'B', at })).toMatchObject({ contextAction: '/clear' });
    expect(run.advance('done', { session: 'B', at })).toMatchObject({ code: 'boundary_open' });
    run.now += 1;
    run.send({ type: 'boundary', by: 'hook', saw: 'compact', session: 'B' });
    expect(run.status({ session: 'B', at })).toMatchObject({ contextAction: '/clear' });
    run.send({ type: 'boundary', by: 'hook', saw: 'clear', session: 'B' });
    expect(run.status({ session: 'B', at })).toMatchObject({ instructions: 'Do plan' });
    expect(boundary(run)).toMatchObject({ how: 'reset', by: 'new_session', session: 'B' });
    expect(run.advance('done', { session: 'A', at })).toMatchObject({ code: 'boundary_open' });
    expect(run.advance('done', { session: 'B', at })).toMatchObject({ step: 'end' });
  });

  test('a session that began after the position is a new one', () => {
    const run = required();
    run.now += 1;
    run.witness('N');
    expect(run.status({ session: 'N', at: 'k3f9x2ab:plan#1' })).toMatchObject({ instructions: 'Do plan' });
  });

  test('a reset that is seen while the boundary is pending counts', () => {
    const definition = workflow([
      action('a', { gate: [{ run: 'make' }] }),
      action('b', { context: 'clear' }),
    ]);
    const run = new Run(definition, { session: 'A' });
    run.advance('done', { session: 'A' });
    run.gates();
    run.send({ type: 'boundary', by: 'hook', saw: 'clear', session: 'Z' });
    expect(boundary(run)?.state).toBe('pending');
    run.send({ type: 'boundary', by: 'hook', saw: 'compact', session: 'A' });
    expect(boundary(run)?.state).toBe('pending');
    run.send({ type: 'boundary', by: 'hook', saw: 'clear', session: 'A' });
    expect(boundary(run)).toMatchObject({ state: 'released', how: 'reset', by: 'hook' });
    expect(run.status({ session: 'A' })).toMatchObject({ instructions: 'Do b' });
  });

  test('a person may let a pending boundary pass too', () => {
    const definition = workflow([
      action('a', { gate: [{ run: 'make' }] }),
      action('b', { context: 'clear' }),
    ]);
    const run = new Run(definition);
    run.advance('done');
    run.gates();
    expect(run.person({ type: 'proceed' })).toMatchObject({ instructions: 'Do b' });
    expect(run.person({ type: 'proceed', at: 'k3f9x2ab:a#1' })).toMatchObject({ code: 'no_boundary' });
    expect(run.person({ type: 'proceed', at: 'k3f9x2ab:b#9' })).toMatchObject({ code: 'stale_handle' });
  });

  test('a reset with a handle that is done or stale opens nothing', () => {
    const run = start('prefer');
    run.status({ session: 'A' });
    run.advance('planned', { session: 'A' });
    expect(run.send({ type: 'boundary', by: 'subagent', saw: 'new', at: 'abc:plan#1' })).toMatchObject({
      step: 'build',
    });
    expect(run.last).toEqual([]);
    expect(run.send({ type: 'boundary', by: 'subagent', saw: 'new', at: 'abc:plan#7' })).toMatchObject({
      code: 'stale_handle',
    });
  });

  test('a session that takes the place of another has its tasks and boundaries', () => {
    const run = required();
    run.send({ type: 'session', session: 'A2', event: { type: 'started', from: 'A', witness: 'hooks' } });
    expect(boundary(run)?.session).toBe('A2');
    run.send({ type: 'boundary', by: 'hook', saw: 'clear', session: 'A2' });
    expect(boundary(run)).toMatchObject({ state: 'released', how: 'reset' });
  });

  test('a required boundary that was taken over can be taken over again, reset or let pass', () => {
    const at = 'k3f9x2ab:plan#1';
    const taken = (): Run => {
      const run = required();
      run.now += 1;
      run.witness('C');
      run.status({ session: 'C', at });
      expect(boundary(run)).toMatchObject({ by: 'new_session', session: 'C' });
      run.now += 1;
      return run;
    };
    const again = taken();
    expect(again.status({ session: 'A', at })).toMatchObject({ contextAction: '/clear' });
    expect(again.advance('x', { session: 'A' })).toMatchObject({ code: 'boundary_open' });
    expect(mayStop(again.definition, again.state, { session: 'A', active: false })).toMatchObject({
      hold: false,
    });
    again.witness('D');
    expect(again.status({ session: 'D', at })).toMatchObject({ instructions: 'Do plan' });
    expect(again.advance('done', { session: 'D', at })).toMatchObject({ step: 'build' });

    const late = taken();
    late.witness('D');
    expect(late.advance('unread', { session: 'D', at })).toMatchObject({
      code: 'not_briefed',
      instructions: 'Do plan',
    });
    expect(late.advance('done', { session: 'D', at })).toMatchObject({ step: 'build' });

    const cleared = taken();
    cleared.send({ type: 'boundary', by: 'hook', saw: 'clear', session: 'A' });
    expect(cleared.advance('done', { session: 'A' })).toMatchObject({ step: 'build' });

    const passed = taken();
    passed.person({ type: 'proceed' });
    expect(passed.advance('done', { session: 'A' })).toMatchObject({ step: 'build' });
  });

  test('the engine does not let a boundary pass', () => {
    const run = required();
    expect(run.engine({ type: 'advance', output: 'x' })).toMatchObject({ code: 'boundary_open' });
    expect(boundary(run)?.state).toBe('requested');
  });

  test("a handle of before asks about the caller's own position only", () => {
    const definition = workflow([loop('build', { parallel: 2 })], {
      loops: { build: [{ id: 'code', instructions: 'C', context: 'clear' }] },
      boundaries: 'require',
    });
    const run = new Run(definition);
    run.witness('A');
    run.witness('B');
    run.tasks('build', 'a', 'b', 'c');
    const a = run.claim('A', 'a').at ?? '';
    run.send({ type: 'boundary', by: 'hook', saw: 'clear', session: 'A' });
    run.advance('coded', { at: a, session: 'A' });
    run.claim('B', 'b');
    run.now += 1;
    run.send({ type: 'boundary', by: 'hook', saw: 'clear', session: 'A' });
    const reply = run.status({ at: a, session: 'A' });
    expect(run.last).toEqual([]);
    expect(reply).not.toHaveProperty('at');
    expect(run.state.cursors['build/b']?.boundary).toMatchObject({ state: 'requested', session: 'B' });
    const b = 'k3f9x2ab:build/b/code#1';
    run.witness('Z');
    run.now -= 1;
    const other = run.claim('A', 'c').at ?? '';
    run.status({ at: other, session: 'B' });
    expect(run.state.cursors['build/c']?.boundary).toMatchObject({ session: 'A', state: 'requested' });
    expect(run.status({ at: b, session: 'B' })).toMatchObject({ contextAction: '/clear' });
  });
});
