import { describe, expect, test } from 'vitest';
import { boundary, required, start } from '../../test/kit/boundary-run.ts';
import { action, cursor, loop, Run, workflow } from '../../test/kit/run.ts';
import { mayStop } from './may-stop.ts';
import { instructionsFor } from './status.ts';

describe('P1: boundaries', () => {
  test('[P1/1] entering answers the context action and requests it once; off gives the instructions', () => {
    const run = start('prefer');
    expect(run.events.at(-1)).toMatchObject({
      type: 'boundary.requested',
      at: 'abc:plan#1',
      policy: 'prefer',
    });
    expect(boundary(run)).toMatchObject({ state: 'requested', action: 'clear', session: 'A' });

    const answered = required();
    expect(answered.types()).toContain('boundary.requested');
    expect(boundary(answered)).toMatchObject({ state: 'requested', policy: 'require' });

    const off = start('off');
    expect(off.events.at(-1)).toMatchObject({ type: 'boundary.released', how: 'skipped' });
    expect(off.status()).toMatchObject({ instructions: 'Do plan' });
    expect(off.status()).not.toHaveProperty('contextAction');
  });

  test('[P1/1] start, advance and set_tasks all answer the context action with its message', () => {
    const definition = workflow(
      [action('plan', { context: 'clear' }), loop('build', { context: 'compact' })],
      {
        loops: { build: [{ id: 'code', instructions: 'Code' }] },
      },
    );
    const run = new Run(definition, { start: false });
    const started = run.send({ type: 'start', run: 'demo-1-abc' });
    expect(started).toMatchObject({ contextAction: '/clear', at: 'abc:plan#1' });
    expect(started.message).toMatch(/^Please run `\/clear` first, then call workflow_status again\./);
    expect(started).not.toHaveProperty('instructions');
    run.status();
    const advanced = run.advance('planned');
    expect(advanced).not.toHaveProperty('contextAction');
    expect(advanced.action).toEqual({ do: 'work', at: 'abc:build#1', step: 'build', finish: 'set_tasks' });
    const set = run.tasks('build', 't1');
    expect(set).toMatchObject({ contextAction: '/compact', at: 'abc:build/t1/code#1' });
    expect(set.message).toMatch(/^Hand abc:build\/t1\/code#1 to a subagent/);
  });

  test('[P1/2] status: prefer gives the instructions and records a skip, require asks again', () => {
    const run = start('prefer');
    expect(run.status({ session: 'A' })).toMatchObject({ instructions: 'Do plan' });
    expect(run.last).toMatchObject([{ type: 'boundary.released', how: 'skipped' }]);
    run.status({ session: 'A' });
    expect(run.last).toEqual([]);

    const strict = required();
    const reply = strict.status({ session: 'A' });
    expect(reply).toMatchObject({ contextAction: '/clear' });
    expect(reply).not.toHaveProperty('instructions');
    expect(reply.message).toContain('the user types /clear');
    expect(strict.last).toEqual([]);
  });

  test('[P1/3] advance before a briefing is refused: with the instructions under prefer, outright under require', () => {
    const run = start('prefer');
    const refused = run.advance('done', { session: 'A' });
    expect(refused).toMatchObject({ code: 'not_briefed', at: 'abc:plan#1', instructions: 'Do plan' });
    expect(run.last).toMatchObject([{ type: 'boundary.released', how: 'skipped' }]);
    expect(run.advance('really done', { session: 'A' })).toMatchObject({ step: 'build' });

    const strict = required();
    const closed = strict.advance('done', { session: 'A' });
    expect(closed).toMatchObject({ code: 'boundary_open' });
    expect(closed).not.toHaveProperty('instructions');
    expect(strict.last).toEqual([]);
    expect(strict.state.step).toBe('plan');
  });

  test('[P1/3] a failure cannot slip past a required boundary either', () => {
    const strict = required();
    expect(strict.send({ type: 'fail', reason: 'no', session: 'A' })).toMatchObject({
      code: 'boundary_open',
    });
    expect(strict.last).toEqual([]);
  });

  test('[L/worktree] a boundary does not stop the engine from failing a position', () => {
    const strict = required();
    strict.engine({ type: 'fail', reason: 'not set up' });
    expect(strict.last).toMatchObject([
      { type: 'position.failed', reason: 'not set up' },
      { type: 'position.blocked' },
    ]);
  });

  test('[P1/4] context: the instructions are told under prefer and withheld under require', () => {
    const run = start('prefer');
    const strict = required();
    const told = (of: Run) => {
      const at = cursor(of);
      return at && instructionsFor(of.definition, of.state, at);
    };
    expect(told(run)).toBe('Do plan');
    expect(told(strict)).toBe('');
  });

  test.each(['prefer', 'require'] as const)(
    '[P1/5] note and todo work while it is requested (%s)',
    (policy) => {
      const run = policy === 'prefer' ? start('prefer') : required();
      expect(run.send({ type: 'note', kind: 'decision', text: 'Use PostgreSQL' })).not.toHaveProperty('code');
      expect(run.send({ type: 'todo', content: '- [ ] plan' })).not.toHaveProperty('code');
      expect(run.state.notes).toMatchObject([{ text: 'Use PostgreSQL' }]);
      expect(run.state.todo).toBe('- [ ] plan');
      expect(boundary(run)?.state).toBe('requested');
    },
  );

  test.each(['prefer', 'require'] as const)(
    '[P1/6] the host may stop while it is requested (%s)',
    (policy) => {
      const run = policy === 'prefer' ? start('prefer') : required();
      run.witness('A');
      const stop = { session: 'A', active: false };
      expect(mayStop(run.definition, run.state, stop)).toMatchObject({
        hold: false,
        why: 'context_action',
      });
      run.send({ type: 'boundary', by: 'hook', saw: 'clear', session: 'A' });
      expect(mayStop(run.definition, run.state, stop)).toMatchObject({ hold: true });
    },
  );

  test.each(['prefer', 'require'] as const)(
    '[P1/7] a reset seen in the bound session releases it (%s)',
    (policy) => {
      const run = policy === 'prefer' ? start('prefer') : required();
      run.send({ type: 'boundary', by: 'hook', saw: 'clear', session: 'A' });
      expect(run.types()).toEqual(['session.reset', 'boundary.reset', 'boundary.released']);
      expect(boundary(run)).toMatchObject({ state: 'released', how: 'reset', by: 'hook' });
      expect(run.status({ session: 'A' })).toMatchObject({ instructions: 'Do plan' });
    },
  );

  test('[P1/7] what a subagent was asked falls to its session once it has ended, and to the one in its place', () => {
    const clear = { type: 'boundary', by: 'hook', saw: 'clear' } as const;
    const askedOfSubagent = (): Run => {
      const steps = [action('intro'), action('plan', { context: 'clear' })];
      const run = new Run(workflow(steps, { boundaries: 'require' }));
      for (const session of ['A', 'B', 'A/s']) run.witness(session);
      run.advance('introduced', { session: 'A/s' });
      expect(boundary(run)).toMatchObject({ state: 'requested', policy: 'require', session: 'A/s' });
      return run;
    };
    const run = askedOfSubagent();
    run.send({ ...clear, session: 'A' });
    expect(boundary(run)).toMatchObject({ state: 'requested' });
    run.send({ type: 'session', session: 'A/s', event: { type: 'ended' } });
    run.send({ ...clear, session: 'B' });
    expect(boundary(run)).toMatchObject({ state: 'requested' });
    run.send({ ...clear, session: 'A' });
    expect(boundary(run)).toMatchObject({ state: 'released', by: 'hook' });

    const cleared = askedOfSubagent();
    cleared.send({ type: 'session', session: 'C', event: { type: 'started', from: 'A' } });
    cleared.send({ ...clear, session: 'C' });
    expect(boundary(cleared)).toMatchObject({ state: 'released', by: 'hook' });
  });

  test('[P1/7] a reset in a session that is not bound opens nothing', () => {
    const run = start('prefer');
    run.send({ type: 'boundary', by: 'hook', saw: 'clear', session: 'Z' });
    expect(run.types()).toEqual(['session.reset']);
    expect(boundary(run)?.state).toBe('requested');
  });

  test.each(['prefer', 'require'] as const)(
    '[P1/8] a subagent that starts with the handle is a reset (%s)',
    (policy) => {
      const run = policy === 'prefer' ? start('prefer') : required();
      const at = policy === 'prefer' ? 'abc:plan#1' : 'k3f9x2ab:plan#1';
      run.send({ type: 'boundary', by: 'subagent', saw: 'new', at });
      expect(run.types()).toEqual(['boundary.reset', 'boundary.released']);
      expect(boundary(run)).toMatchObject({ how: 'reset', by: 'subagent' });
      expect(run.advance('planned', { at, session: 'S' })).toMatchObject({ step: 'build' });
    },
  );

  test('[P1/8] a required boundary that a subagent opened is open to it, to a later one, after a clear, and to a person', () => {
    const at = 'k3f9x2ab:plan#1';
    const handed = (): Run => {
      const run = required();
      run.now += 1;
      run.witness('A/s1');
      run.send({ type: 'boundary', by: 'subagent', saw: 'new', at, session: 'A/s1' });
      expect(boundary(run)).toMatchObject({ how: 'reset', by: 'subagent', session: 'A/s1' });
      expect(run.advance('in the old context', { session: 'A', at })).toMatchObject({
        code: 'boundary_open',
        params: { at, context: 'clear' },
      });
      expect(run.status({ session: 'A', at })).toMatchObject({ contextAction: '/clear' });
      expect(run.status({ session: 'A', at })).not.toHaveProperty('instructions');
      run.now += 1;
      return run;
    };
    expect(handed().advance('planned', { session: 'A/s1', at })).toMatchObject({ step: 'build' });

    const ended = handed();
    ended.send({ type: 'session', session: 'A/s1', event: { type: 'ended' } });
    expect(ended.advance('x', { session: 'A', at })).toMatchObject({ code: 'boundary_open' });
    ended.witness('A/s2');
    ended.send({ type: 'boundary', by: 'subagent', saw: 'new', at, session: 'A/s2' });
    expect(ended.advance('planned', { session: 'A/s2', at })).toMatchObject({ step: 'build' });

    const cleared = handed();
    cleared.send({ type: 'boundary', by: 'hook', saw: 'clear', session: 'A' });
    expect(cleared.advance('planned', { session: 'A', at })).toMatchObject({ step: 'build' });

    const passed = handed();
    passed.person({ type: 'proceed' });
    expect(passed.advance('planned', { session: 'A', at })).toMatchObject({ step: 'build' });
  });

  test('[P1/8] under prefer a session that handed a position to a subagent may continue it', () => {
    const run = start('prefer');
    run.witness('A/s1');
    run.send({ type: 'boundary', by: 'subagent', saw: 'new', at: 'abc:plan#1', session: 'A/s1' });
    expect(run.advance('planned', { session: 'A', at: 'abc:plan#1' })).toMatchObject({ step: 'build' });
  });

  test.each(['prefer', 'require'] as const)(
    '[P1/9] another session that calls with the handle is a reset (%s)',
    (policy) => {
      const run = policy === 'prefer' ? start('prefer') : required();
      const at = policy === 'prefer' ? 'abc:plan#1' : 'k3f9x2ab:plan#1';
      run.now += 1;
      run.witness('B');
      expect(run.status({ session: 'B', at })).toMatchObject({ instructions: 'Do plan' });
      expect(run.last).toMatchObject([
        { type: 'boundary.reset', by: 'new_session', saw: 'new' },
        { type: 'boundary.released', how: 'reset' },
      ]);
    },
  );

  test('[P1/9] another session that advances unread is briefed instead', () => {
    const run = required();
    run.now += 1;
    run.witness('B');
    const refused = run.advance('done', { session: 'B', at: 'k3f9x2ab:plan#1' });
    expect(refused).toMatchObject({ code: 'not_briefed', instructions: 'Do plan' });
    expect(boundary(run)).toMatchObject({ state: 'released', how: 'reset', by: 'new_session' });
  });

  test('[P1/9] another session without the handle, or unknown to the run, does not count as new', () => {
    const run = required();
    expect(run.status({ session: 'Z', at: 'k3f9x2ab:plan#1' })).toMatchObject({ contextAction: '/clear' });
    expect(run.advance('x', { session: 'Z', at: 'k3f9x2ab:plan#1' })).toMatchObject({
      code: 'boundary_open',
    });
    run.witness('B');
    expect(run.status({ session: 'B', at: 'k3f9x2ab:plan#1' })).toMatchObject({ contextAction: '/clear' });
    expect(run.status({ session: 'B' })).toMatchObject({ contextAction: '/clear' });
    expect(run.last).toEqual([]);
  });

  test('[P1/10] a late reset after a skip is recorded and briefs again under prefer; off only records it', () => {
    const run = start('prefer');
    run.status({ session: 'A' });
    run.send({ type: 'boundary', by: 'hook', saw: 'clear', session: 'A' });
    expect(run.types()).toEqual(['session.reset', 'boundary.reset', 'boundary.released']);
    expect(boundary(run)).toMatchObject({ how: 'reset' });

    const off = start('off');
    off.send({ type: 'boundary', by: 'hook', saw: 'clear', session: 'A' });
    expect(off.types()).toEqual(['session.reset']);
    expect(boundary(off)).toMatchObject({ how: 'skipped' });
  });

  test('[P1/10] a required boundary that a person let pass takes no late reset', () => {
    const run = required();
    run.person({ type: 'proceed' });
    expect(boundary(run)).toMatchObject({ state: 'released', how: 'proceeded' });
    run.send({ type: 'boundary', by: 'hook', saw: 'clear', session: 'A' });
    expect(run.types()).toEqual(['session.reset']);
  });

  test('a clear satisfies compact, a compaction does not satisfy clear', () => {
    const compact = start('prefer', { context: 'compact' });
    compact.send({ type: 'boundary', by: 'hook', saw: 'clear', session: 'A' });
    expect(boundary(compact)).toMatchObject({ how: 'reset' });
    const enough = start('prefer', { context: 'compact' });
    enough.send({ type: 'boundary', by: 'hook', saw: 'compact', session: 'A' });
    expect(boundary(enough)).toMatchObject({ how: 'reset' });
    const clear = start('prefer');
    clear.send({ type: 'boundary', by: 'hook', saw: 'compact', session: 'A' });
    expect(boundary(clear)?.state).toBe('requested');
  });
});
