import { describe, expect, test } from 'vitest';
import { action, loop, Run, ralph, workflow } from '../../test/kit/run.ts';
import type { BoundaryPolicy } from '../schema/index.ts';
import { mayStop } from './may-stop.ts';
import { instructionsFor } from './status.ts';

const start = (policy: BoundaryPolicy, parts: { context?: 'clear' | 'compact' } = {}): Run => {
  const definition = workflow([action('plan', { context: parts.context ?? 'clear' }), action('build')], {
    boundaries: policy,
    stop: 'hold',
  });
  const run = new Run(definition, { start: false });
  run.send({ type: 'start', run: 'demo-1-abc', session: 'A' });
  return run;
};

/** `require` needs somebody who can see a reset. */
const required = (parts: { context?: 'clear' | 'compact' } = {}): Run => {
  const definition = workflow(
    [action('intro'), action('plan', { context: parts.context ?? 'clear' }), action('build')],
    {
      boundaries: 'require',
      stop: 'hold',
    },
  );
  const run = new Run(definition);
  run.witness('A');
  run.advance('introduced', { session: 'A' });
  return run;
};

const only = (run: Run) => Object.values(run.state.cursors)[0];
const boundary = (run: Run) => only(run)?.boundary;

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

  test('[P1/4] context: the instructions are told under prefer and withheld under require', () => {
    const run = start('prefer');
    const strict = required();
    const told = (of: Run) => {
      const cursor = only(of);
      return cursor && instructionsFor(of.definition, of.state, cursor);
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
        reason: 'a context action is pending',
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

  test('[P1/8] under prefer whoever handed a position to a subagent may go on with it', () => {
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

  test('[P1/9] without the handle, or unknown to the run, another session is nobody', () => {
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

  test('a session that nobody sees is no new one where a reset is required', () => {
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
    'work on a position that nobody was told of is refused (%s)',
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
    expect(run.engine({ type: 'fail', reason: 'x' })).toMatchObject({ code: 'boundary_open' });
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
    const cursor = only(run);
    expect(cursor && instructionsFor(definition, run.state, cursor)).toBe('');
  });
});
