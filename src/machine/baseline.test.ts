import { describe, expect, test } from 'vitest';
import { action, cursor, loop, Run, ralph, workflow } from '../../test/kit/run.ts';
import type { Gate, Step } from './index.ts';

const tests: Gate = { run: 'npm test', baseline: true };
const lint: Gate = { run: 'npm run lint' };
const step = (parts: Partial<Step> = {}): Step => action('fix', { gate: [tests, lint], ...parts });
const minute = 60_000;

/** The roles and commands of the gates that the last command requested. */
const asked = ({ effects }: Run): string[] =>
  effects.flatMap((effect) =>
    effect.type === 'runGates' ? effect.gates.map(({ role, gate }) => `${role} ${gate.run}`) : [],
  );

/** The first gate is red, and so the others were not run. */
function red(run: Run) {
  const { id = '', gates = [] } = cursor(run)?.checking ?? {};
  const receipts = gates.map((_, gate) =>
    gate === 0 ? { gate, pass: false, exit: 1 } : { gate, pass: false },
  );
  return run.engine({ type: 'gatesFinished', id, receipts });
}

describe('[L/baseline] a gate with baseline', () => {
  test('runs when the position is entered, before the work, and the agent waits for it', () => {
    const run = new Run(workflow([action('plan'), step()]));
    const entered = run.advance('planned', { session: 's' });
    expect(asked(run)).toEqual(['baseline npm test']);
    expect(run.effects).toMatchObject([{ session: 's' }]);
    const { at } = entered;
    expect(entered).toMatchObject({
      step: 'fix',
      preparing: 'baseline',
      action: { do: 'wait', for: 'gates', before: true },
    });
    expect(entered.instructions).toBeUndefined();
    expect(run.advance('too early', { at: at ?? '' })).toMatchObject({ at, checking: {} });
    expect(run.send({ type: 'fail', reason: 'no', at: at ?? '' })).toMatchObject({ at, checking: {} });
    expect(run.last).toEqual([]);
    expect(run.gates()).toMatchObject({ at, instructions: 'Do fix', action: { do: 'work' } });
  });

  test.each([
    ['red before, green after', true, false],
    ['green before, green after', false, false],
    ['red before, red after', true, true],
    ['green before, red after', false, true],
  ])('%s', (_, redBefore, redAfter) => {
    const run = new Run(workflow([step()]));
    expect(run.gates({ red: redBefore })).toMatchObject({ instructions: 'Do fix', action: { do: 'work' } });
    expect(run.status()).toMatchObject({ baseline: [{ what: 'npm test', pass: !redBefore }] });
    run.advance('done');
    expect(asked(run)).toEqual(['gate npm test', 'gate npm run lint']);
    const before = redBefore ? 'fail' : 'pass';
    const after = redAfter ? red(run) : run.gates();
    if (redAfter) {
      expect(after).toMatchObject({
        failed_gates: [{ what: 'npm test', before }, { what: 'npm run lint' }],
        action: { do: 'fix', gates: [{ what: 'npm test', before }, {}] },
      });
      return;
    }
    const [first, second] = run.state.outputs.fix?.receipts ?? [];
    expect(first).toMatchObject({ what: 'npm test', pass: true, before });
    expect(second).not.toHaveProperty('before');
  });

  test('that was not run, because one before it is red, was not broken by the change', () => {
    const run = new Run(workflow([step({ gate: [lint, tests] })]));
    run.gates();
    run.advance('done');
    expect(red(run).failed_gates?.map(({ before }) => before)).toEqual([undefined, undefined]);
  });

  test('red there is no attempt and no failure', () => {
    const run = new Run(workflow([step({ attempts: 1, on_fail: { retry: 1, then: 'abort' } })]));
    run.gates({ red: true });
    expect(cursor(run)).toMatchObject({ reds: 0, failures: 0 });
    expect(cursor(run)).not.toHaveProperty('receipts');
    expect(run.advance('done')).toMatchObject({ status: 'running' });
    expect(run.gates({ red: true })).toMatchObject({ status: 'failed' });
  });

  test('with expect: fail passes as the gate says', () => {
    const run = new Run(workflow([step({ gate: [{ ...tests, expect: 'fail' }] })]));
    run.gates();
    run.advance('done');
    run.gates();
    expect(run.state.outputs.fix?.receipts).toMatchObject([{ pass: true, expect: 'fail', before: 'pass' }]);
  });

  test('a retry, and work that a reviewer sent back, keep what it said', () => {
    const run = new Run(workflow([step({ on_fail: 'retry', review: { by: 'human' } })]));
    run.gates({ red: true });
    run.send({ type: 'fail', reason: 'no idea' });
    expect(run.effects).toEqual([]);
    expect(cursor(run)).toMatchObject({ visit: 2, baseline: [{ what: 'npm test', pass: false }] });
    run.advance('done');
    run.gates();
    run.person({ type: 'review', verdict: 'revise' });
    expect(run.effects).toEqual([]);
    run.advance('done again');
    run.gates();
    run.person({ type: 'review', verdict: 'approve' });
    expect(run.state.outputs.fix?.receipts).toMatchObject([{ before: 'fail' }, {}]);
  });

  test('a rewind enters anew and runs it again', () => {
    const run = new Run(workflow([step(), action('end')]));
    run.gates({ red: true });
    run.advance('done');
    run.gates();
    run.person({ type: 'rewind', to: 'fix' });
    expect(asked(run)).toEqual(['baseline npm test']);
    run.gates();
    expect(cursor(run)).toMatchObject({ baseline: [{ pass: true }] });
  });

  test('that was interrupted runs again, for the same session', () => {
    const run = new Run(workflow([step()]), { session: 's' });
    const { id = '' } = cursor(run)?.checking ?? {};
    run.engine({ type: 'gatesStarted', id, runner: { pid: 7, host: 'here' } });
    run.person({ type: 'status', runnerAlive: false });
    expect(run.types()).toEqual(['gates.interrupted', 'gates.requested']);
    expect(run.effects).toMatchObject([{ type: 'stopGates' }, { type: 'runGates', session: 's' }]);
    expect(run.engine({ type: 'gatesFinished', id, receipts: [] })).toMatchObject({ code: 'stale_gates' });
    expect(run.gates()).toMatchObject({ action: { do: 'work' } });
  });

  test('whose runner never reported is requested again by a call that finds it', () => {
    const run = new Run(workflow([step()]));
    run.status();
    expect(run.types()).toEqual([]);
    expect(asked(run)).toEqual(['baseline npm test']);
  });

  test('that could not be run says nothing about the work', () => {
    const run = new Run(workflow([step()]));
    const { id = '' } = cursor(run)?.checking ?? {};
    run.engine({ type: 'gatesFinished', id, receipts: [] });
    expect(cursor(run)?.baseline).toEqual([]);
    run.advance('done');
    run.gates();
    expect(run.state.outputs.fix?.receipts[0]).not.toHaveProperty('before');
  });

  test('the engine fails a position whose worktree could not be set up, also before the work', () => {
    const run = new Run(workflow([step({ on_fail: 'retry', attempts: 1 })]));
    const at = run.status().at ?? '';
    run.engine({ type: 'fail', at, reason: 'no worktree' });
    expect(run.types()).toEqual([
      'gates.interrupted',
      'position.failed',
      'position.entered',
      'gates.requested',
    ]);
    expect(asked(run)).toEqual(['baseline npm test']);
    run.engine({ type: 'fail', at: run.status().at ?? '', reason: 'no worktree' });
    expect(run.state.status).toBe('waiting');
    run.person({ type: 'review', verdict: 'revise' });
    expect(asked(run)).toEqual(['baseline npm test']);
  });

  test('comes before a context action, which the agent is asked for when it has run', () => {
    const definition = workflow([action('plan'), step()], {
      transitions: [{ from: 'plan', to: 'fix', context: 'clear' }],
    });
    const run = new Run(definition);
    run.witness('s');
    const { at = '' } = run.advance('planned', { session: 's' });
    run.status({ at, session: 's' });
    expect(cursor(run)).toMatchObject({ boundary: { state: 'pending' } });
    expect(run.state.arrival).toBeUndefined();
    run.gates({ red: true });
    expect(run.status({ at, session: 's' })).toMatchObject({ contextAction: '/clear' });
    expect(cursor(run)).toMatchObject({ boundary: { state: 'requested' }, baseline: [{ pass: false }] });
  });

  test('comes before the command of a run step', () => {
    const run = new Run(workflow([{ id: 'build', type: 'action', run: 'make', gate: [tests] }]));
    expect(asked(run)).toEqual(['baseline npm test']);
    const { id = '' } = cursor(run)?.checking ?? {};
    run.engine({ type: 'gatesStarted', id, runner: { pid: 7, host: 'here' } });
    // Interrupted: the command has not run, so no person is asked.
    run.status({ runnerAlive: false });
    expect(run.state.status).toBe('running');
    run.gates({ red: true });
    expect(asked(run)).toEqual(['run make', 'gate npm test']);
    expect(run.gates()).toMatchObject({ status: 'complete' });
    expect(run.state.outputs.build?.receipts).toMatchObject([{ role: 'run' }, { before: 'fail' }]);
  });

  test('runs before each iteration of a ralph step', () => {
    const run = new Run(workflow([ralph('polish', 2, { gate: [tests] })]));
    run.gates({ red: true });
    run.advance('one');
    run.gates();
    expect(asked(run)).toEqual(['baseline npm test']);
    run.gates();
    run.advance('two');
    run.gates();
    const before = ['polish.1', 'polish.2'].map((key) => run.state.outputs[key]?.receipts[0]?.before);
    expect(before).toEqual(['fail', 'pass']);
  });

  test('that must hold again at the end does not run before the last step', () => {
    const gate = [{ ...tests, rerun: true }];
    const run = new Run(workflow([action('fix', { gate }), action('end')]));
    run.gates({ red: true });
    run.advance('done');
    run.gates();
    expect(run.effects).toEqual([]);
    run.advance('the end');
    expect(asked(run)).toEqual(['rerun npm test']);
    run.gates();
    expect(run.state.outputs.end?.receipts[0]).not.toHaveProperty('before');
  });

  test('the receipt of a gate that holds again at the end is not about the last step', () => {
    const run = new Run(
      workflow([action('fix', { gate: [{ ...tests, rerun: true }] }), action('end', { gate: [tests] })]),
    );
    for (const at of ['fix', 'end']) {
      run.gates();
      run.advance(at);
      run.gates();
    }
    expect(run.state.outputs.end?.receipts.map(({ role, before }) => [role, before])).toEqual([
      ['gate', 'pass'],
      ['rerun', undefined],
    ]);
  });

  test('of a step with `when` runs after its condition was found to hold', () => {
    const run = new Run(workflow([step({ when: 'inputs.x' })]));
    const at = run.status().at ?? '';
    expect(cursor(run)).toMatchObject({ preparing: { kind: 'when' } });
    const when = { holds: true, values: {} };
    run.engine({ type: 'prepared', at, when });
    expect(asked(run)).toEqual(['baseline npm test']);
    const opened = run.status().at ?? '';
    expect(run.engine({ type: 'prepared', at: opened, when })).toMatchObject({ code: 'stale_handle' });
    expect(run.gates()).toMatchObject({ action: { do: 'work' } });
  });
});

describe('[L/baseline] in a loop', () => {
  const several = (
    parts: Partial<NonNullable<NonNullable<Run['definition']['loops']>[string]>[number]> = {},
  ) => {
    const run = new Run(
      workflow([action('plan'), loop('build', { parallel: 2 })], {
        loops: { build: [{ id: 'code', instructions: 'Code', gate: [tests], ...parts }] },
        transitions: [{ from: 'plan', to: 'build', context: 'clear' }],
      }),
    );
    run.advance('planned');
    run.tasks('build', 'a', 'b');
    for (const session of ['A', 'B']) run.witness(session);
    return run;
  };

  test('it runs at each claim, for each task alone', () => {
    const run = several();
    const [a = '', b = ''] = [run.claim('A', 'a').at, run.claim('B', 'b').at];
    expect(asked(run)).toEqual(['baseline npm test']);
    run.gates({ at: a, red: true });
    run.gates({ at: b });
    for (const [at, session] of [
      [a, 'A'],
      [b, 'B'],
    ] as const) {
      expect(run.status({ at, session })).toMatchObject({ contextAction: '/clear' });
      run.send({ type: 'boundary', by: 'hook', saw: 'clear', session, at });
      run.advance('done', { at, session });
      run.gates({ at });
    }
    const before = ['build.a.code', 'build.b.code'].map((key) => run.state.outputs[key]?.receipts[0]?.before);
    expect(before).toEqual(['fail', 'pass']);
  });

  test('a task that is taken over meanwhile runs it again, and keeps its context action', () => {
    const run = several();
    run.claim('A', 'a');
    run.now += 40 * minute;
    const { at = '' } = run.claim('B', 'a');
    expect(run.types()).toEqual(['gates.interrupted', 'position.entered', 'gates.requested']);
    expect(run.effects).toMatchObject([{ type: 'stopGates' }, { type: 'runGates', session: 'B' }]);
    run.gates({ at });
    expect(run.status({ at, session: 'B' })).toMatchObject({ contextAction: '/clear' });
  });

  test('a task that is taken over later keeps what it said', () => {
    const run = several();
    const { at = '' } = run.claim('A', 'a');
    run.gates({ at, red: true });
    run.now += 40 * minute;
    run.claim('B', 'a');
    expect(run.types()).not.toContain('gates.requested');
    expect(cursor(run)).toMatchObject({ baseline: [{ pass: false }], lease: { holder: 'B' } });
  });

  test('a sub-step with `when` runs it after its condition, and then asks for the context action', () => {
    const run = several({ when: 'inputs.x' });
    const { at = '' } = run.claim('A', 'a');
    expect(asked(run)).toEqual([]);
    run.engine({ type: 'prepared', at, when: { holds: true, values: {} }, session: 'A' });
    expect(run.types()).toEqual(['position.prepared', 'gates.requested']);
    run.gates({ at });
    expect(run.status({ at, session: 'A' })).toMatchObject({ contextAction: '/clear' });
  });
});
