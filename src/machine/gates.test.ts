import { describe, expect, test } from 'vitest';
import { checking, gated } from '../../test/kit/gated-run.ts';
import { action, cursor, loop, Run, workflow } from '../../test/kit/run.ts';
import { eventProblem } from '../schema/event.ts';
import { gateText } from './gate-text.ts';

describe('P3: gates', () => {
  test('[P3/1] advance on an open position asks for its gates', () => {
    const run = gated({ gate: [{ run: 'npm test', timeout: 30 }, { exists: 'PLAN.md' }] });
    const reply = run.advance('built', { tree: 't1' });
    expect(run.last).toMatchObject([
      { type: 'gates.requested', id: 'k3f9x2ab:build#1!1', output: 'built', tree: 't1' },
    ]);
    expect(run.effects).toMatchObject([
      {
        type: 'runGates',
        id: 'k3f9x2ab:build#1!1',
        at: 'k3f9x2ab:build#1',
        deadline: run.now + 30_000 + 600_000 + 60_000,
        gates: [
          { role: 'gate', gate: { run: 'npm test' } },
          { role: 'gate', gate: { exists: 'PLAN.md' } },
        ],
      },
    ]);
    expect(reply).toMatchObject({ step: 'build', checking: { id: 'k3f9x2ab:build#1!1' } });
    expect(reply.action).toEqual({ do: 'wait', for: 'gates', at: 'k3f9x2ab:build#1' });
    run.engine({
      type: 'gatesStarted',
      id: 'k3f9x2ab:build#1!1',
      runner: { pid: 7, host: 'h' },
      deadline: 5,
      tree: 't2',
    });
    expect(checking(run)).toMatchObject({ runner: { pid: 7, host: 'h' }, deadline: 5, tree: 't2' });
  });

  test('[P3/2] the same call attaches to the running gates', () => {
    const run = gated();
    const at = run.status().at ?? '';
    run.advance('built', { at });
    expect(run.advance('built', { at })).toMatchObject({ checking: {} });
    expect(run.advance('built')).toMatchObject({ checking: {} });
    expect(run.last).toEqual([]);
  });

  test('[P3/3] another output, or another handle of the same cursor, is refused while the gates run', () => {
    const run = gated();
    const at = run.status().at ?? '';
    run.advance('built', { at });
    expect(run.advance('built differently', { at })).toMatchObject({ code: 'checking', at });
    expect(run.advance('built', { at: at.replace('#1', '#2') })).toMatchObject({ code: 'checking', at });
    expect(run.send({ type: 'fail', reason: 'x', at })).toMatchObject({ code: 'checking' });
    expect(run.send({ type: 'ask', text: 'And now?', at })).toMatchObject({ code: 'checking' });
    expect(checking(run)?.output).toBe('built');
  });

  test('[P3/3] other cursors are free meanwhile', () => {
    const run = new Run(
      workflow([loop('build', { parallel: 2 })], {
        loops: { build: [{ id: 'c', instructions: 'C', gate: [{ run: 'make' }] }] },
      }),
    );
    run.tasks('build', 'a', 'b');
    const a = run.claim('A', 'a').at ?? '';
    const b = run.claim('B', 'b').at ?? '';
    run.advance('x', { at: a });
    expect(run.advance('y', { at: b })).not.toHaveProperty('code');
    run.gates({ at: b });
    expect(run.state.outputs).toHaveProperty(['build.b.c']);
    expect(run.state.cursors['build/a']?.checking).toBeDefined();
  });

  test('[P3/4] green gates leave receipts and complete the position in one append', () => {
    const run = gated();
    run.advance('built');
    run.gates({ tree: 't2' });
    expect(run.types()).toEqual([
      'gates.finished',
      'position.completed',
      'step.completed',
      'step.entered',
      'position.entered',
    ]);
    expect(run.state.outputs.build).toMatchObject({
      text: 'built',
      at: 'k3f9x2ab:build#1',
      tree: 't2',
      receipts: [{ what: 'npm test', pass: true }],
    });
    expect(run.state.step).toBe('end');
  });

  test('[P3/4] green gates of a reviewed step ask for the review', () => {
    const run = gated({ review: { by: 'human' } });
    run.advance('built');
    const reply = run.gates({ tree: 't2' });
    expect(run.types()).toEqual(['gates.finished', 'review.requested']);
    expect(reply).toMatchObject({ status: 'waiting', waiting: { for: 'review', by: 'human' } });
    expect(run.state.outputs).toEqual({});
  });

  test('[P3/5] red gates open the same visit again and say what failed', () => {
    const run = gated();
    run.advance('built');
    run.gates({ red: 'npm test' });
    expect(run.last).toMatchObject([{ type: 'gates.finished', pass: false }]);
    expect(run.status()).toMatchObject({
      at: 'k3f9x2ab:build#1',
      failed_gates: [{ what: 'npm test', pass: false }],
      instructions: 'Do build',
    });
    run.advance('built better');
    expect(checking(run)).toMatchObject({ id: 'k3f9x2ab:build#1!2', output: 'built better' });
    run.gates();
    expect(run.state.step).toBe('end');
  });

  test('[P3/5] a gate without a receipt is red', () => {
    const run = gated();
    run.advance('built');
    run.engine({ type: 'gatesFinished', id: 'k3f9x2ab:build#1!1', receipts: [] });
    expect(run.last).toMatchObject([{ type: 'gates.finished', pass: false }]);
  });

  test('[P3/5] a gate that keeps writing files is red', () => {
    const run = gated();
    run.advance('built');
    run.gates({ unstable: ['dist/app.js'] });
    expect(run.last).toMatchObject([{ type: 'gates.finished', pass: false, unstable: ['dist/app.js'] }]);
    expect(run.state.step).toBe('build');
  });

  test('[P3/5] after five reds it is a failure, and on_fail decides', () => {
    const fail = (run: Run, times: number) => {
      for (let i = 0; i < times; i += 1) {
        run.advance(`try ${i}`);
        run.gates({ red: true });
      }
    };
    const waits = gated();
    fail(waits, 4);
    expect(cursor(waits)).toMatchObject({ reds: 4, failures: 0 });
    fail(waits, 1);
    expect(waits.types()).toEqual(['gates.finished', 'position.failed', 'position.blocked']);
    expect(cursor(waits)?.waiting).toMatchObject({ kind: 'blocked', reason: 'its gates failed 5 times' });
    expect(waits.state.status).toBe('waiting');

    const retries = gated({ on_fail: 'retry', attempts: 2 });
    fail(retries, 2);
    expect(cursor(retries)).toMatchObject({ visit: 2, failures: 1, reds: 0 });

    const aborts = gated({ on_fail: 'abort', attempts: 1 });
    fail(aborts, 1);
    expect(aborts.state).toMatchObject({ status: 'failed', reason: 'its gates failed 1 times' });
  });

  test('[P3/6] past the deadline the position is open again, and nothing is counted', () => {
    const run = gated();
    run.advance('built');
    const { deadline = 0, id } = checking(run) ?? {};
    run.now = deadline;
    run.advance('built');
    expect(run.last).toEqual([]);
    run.now = deadline + 1;
    run.advance('built again');
    expect(run.last).toMatchObject([
      { type: 'gates.interrupted', id, why: 'deadline' },
      { type: 'gates.requested', output: 'built again' },
    ]);
    expect(run.effects).toMatchObject([{ type: 'stopGates', id }, { type: 'runGates' }]);
    expect(cursor(run)).toMatchObject({ reds: 0, failures: 0 });
    expect(run.engine({ type: 'gatesFinished', id: id ?? '', receipts: [] })).toMatchObject({
      code: 'stale_gates',
    });
  });

  test('[P3/6] a runner that is dead on this machine interrupts them too', () => {
    const run = gated();
    run.advance('built');
    run.status({ runnerAlive: true });
    expect(run.last).toEqual([]);
    expect(run.status({ runnerAlive: false })).toMatchObject({ instructions: 'Do build' });
    expect(run.last).toMatchObject([{ type: 'gates.interrupted', why: 'runner' }]);
    run.advance('built', { runnerAlive: false });
    expect(run.last).toMatchObject([{ type: 'gates.requested', id: 'k3f9x2ab:build#1!2' }]);
    run.send({ type: 'fail', reason: 'x', runnerAlive: false });
    expect(run.types()).toEqual(['gates.interrupted', 'position.failed', 'position.blocked']);
  });

  test.each(['rewind', 'cancel'] as const)('[P3/7] %s stops the gates and fences their result', (type) => {
    const run = gated();
    run.advance('built');
    run.engine({ type: 'gatesStarted', id: checking(run)?.id ?? '', runner: { pid: 7, host: 'h' } });
    const id = checking(run)?.id ?? '';
    run.person(type === 'rewind' ? { type, to: 'build' } : { type });
    expect(run.effects).toMatchObject([{ type: 'stopGates', id, runner: { pid: 7 } }]);
    const late = { type: 'gatesFinished' as const, id, receipts: [{ gate: 0, pass: true }] };
    expect(run.engine(late)).toMatchObject({ code: 'stale_gates' });
    expect(run.engine({ type: 'gatesStarted', id })).toMatchObject({ code: 'stale_gates' });
    expect(run.last).toEqual([]);
  });

  test('gates that must hold again run with the last step, and count only there', () => {
    const definition = workflow([
      action('build', { gate: [{ run: 'npm test', rerun: true }, { run: 'make' }] }),
      action('docs'),
      action('end', { gate: [{ exists: 'CHANGELOG.md' }] }),
    ]);
    const run = new Run(definition);
    run.advance('built');
    run.gates();
    run.advance('documented');
    expect(run.state.step).toBe('end');
    run.advance('ended');
    expect(checking(run)?.gates.map(({ role, gate, from }) => [role, gate.run ?? gate.exists, from])).toEqual(
      [
        ['gate', 'CHANGELOG.md', 'end'],
        ['rerun', 'npm test', 'build'],
      ],
    );
    run.gates({ red: 'npm test' });
    expect(run.status()).toMatchObject({
      status: 'running',
      failed_gates: [{ what: 'npm test', role: 'rerun' }],
    });
    run.advance('ended again');
    run.gates();
    expect(run.state.status).toBe('complete');
  });

  test("a loop's gates that must hold again run at the end too", () => {
    const definition = workflow([loop('build'), action('end')], {
      loops: { build: [{ id: 'code', instructions: 'C', gate: [{ run: 'npm test', rerun: true }] }] },
    });
    const run = new Run(definition);
    run.tasks('build', 'a');
    run.advance('coded');
    run.gates();
    run.advance('ended');
    expect(checking(run)?.gates).toMatchObject([{ role: 'rerun', from: 'build/code' }]);
  });
});

test('gates are run by the engine alone, and by one runner', () => {
  const run = gated();
  run.advance('built', { session: 'A' });
  const id = checking(run)?.id ?? '';
  expect(run.effects).toMatchObject([{ type: 'runGates', id, session: 'A' }]);
  for (const actor of [undefined, { kind: 'agent' as const }, { kind: 'person' as const }]) {
    const lie = {
      type: 'gatesFinished' as const,
      id,
      receipts: [{ gate: 0, pass: true }],
      ...(actor ? { actor } : {}),
    };
    expect(run.send(lie)).toMatchObject({ code: 'engine_only' });
  }
  expect(run.send({ type: 'gatesStarted', id })).toMatchObject({ code: 'engine_only' });
  run.advance('built', { session: 'A' });
  expect(run.effects).toMatchObject([{ type: 'runGates', id }]);
  run.engine({ type: 'gatesStarted', id, runner: { pid: 1, host: 'h' } });
  run.engine({ type: 'gatesStarted', id, runner: { pid: 1, host: 'h' } });
  expect(run.types()).toEqual(['gates.started']);
  expect(run.engine({ type: 'gatesStarted', id, runner: { pid: 2, host: 'h' } })).toMatchObject({
    code: 'stale_gates',
  });
  expect(run.engine({ type: 'gatesStarted', id, runner: { pid: 1, host: 'i' } })).toMatchObject({
    code: 'stale_gates',
  });
  expect(checking(run)?.runner).toEqual({ pid: 1, host: 'h' });
  run.advance('built', { session: 'A' });
  expect(run.effects).toEqual([]);
});

test('a result counts for the gate that was asked for, and two that differ are red', () => {
  const run = gated({ gate: [{ run: 'a' }, { run: 'b' }] });
  run.advance('built');
  const twice = [
    { gate: 0, pass: true },
    { gate: 0, pass: false },
    { gate: 1, pass: true },
    { gate: 7, pass: true },
  ];
  run.engine({ type: 'gatesFinished', id: checking(run)?.id ?? '', receipts: twice });
  expect(run.status().failed_gates).toEqual([{ gate: 0, role: 'gate', what: 'a', pass: false }]);
  run.advance('built again');
  run.engine({
    type: 'gatesFinished',
    id: checking(run)?.id ?? '',
    receipts: [{ gate: 1, pass: true, ms: 7, exit: 0 }],
  });
  expect(run.status().failed_gates).toEqual([
    { gate: 0, role: 'gate', what: 'a', pass: false, tail: 'no result' },
  ]);
  expect(cursor(run)?.receipts?.[1]).toEqual({
    gate: 1,
    role: 'gate',
    what: 'b',
    pass: true,
    ms: 7,
    exit: 0,
  });
});

test('files that the gates keep changing are named until the gates run again', () => {
  const run = gated();
  run.advance('built');
  run.gates({ unstable: ['dist/app.js'] });
  expect(run.status()).toMatchObject({ unstable_files: ['dist/app.js'] });
  run.advance('built without');
  run.gates({ red: true });
  expect(run.status()).not.toHaveProperty('unstable_files');
});

test('a retry is told why the visit before it failed, and keeps the feedback', () => {
  const run = gated({ on_fail: 'retry', attempts: 1, review: { by: 'human' } });
  run.advance('built');
  run.gates();
  run.person({ type: 'review', verdict: 'revise', feedback: 'Use PostgreSQL' });
  run.advance('built with PostgreSQL');
  run.gates({ red: true });
  expect(run.status()).toMatchObject({
    at: 'k3f9x2ab:build#3',
    feedback: '**[REVIEW_FEEDBACK]:** "Use PostgreSQL"',
    last_failure: 'its gates failed 1 times',
    failed_gates: [{ what: 'npm test' }],
  });
});

test('files of a gate may be named by placeholders, a command never', () => {
  const definition = workflow(
    [
      action('plan', {
        gate: [{ exists: '{input.plan}' }, { read: ['docs/{input.plan}'] }, { run: 'cat {input.plan}' }],
      }),
    ],
    { inputs: { plan: { default: 'PLAN.md' } } },
  );
  const run = new Run(definition);
  run.advance('planned');
  expect(checking(run)?.gates.map(({ gate }) => gate)).toEqual([
    { exists: 'PLAN.md' },
    { read: ['docs/PLAN.md'] },
    { run: 'cat {input.plan}' },
  ]);
});

test('[L/expect] the receipt says what was expected, and so does what is to be fixed', () => {
  const run = gated({ gate: [{ run: 'npm test', expect: 'fail', contains: 'Error\n' }] });
  run.advance('built');
  expect(checking(run)?.gates).toMatchObject([{ gate: { expect: 'fail', contains: 'Error\n' } }]);
  run.gates({ red: true });
  const what = 'npm test (expected to fail with "Error\\n")';
  expect(run.status().failed_gates).toEqual([{ gate: 0, role: 'gate', what, pass: false, expect: 'fail' }]);
  expect(run.status().action).toMatchObject({ do: 'fix', gates: [{ what, expect: 'fail' }] });
  for (const event of run.events) expect(eventProblem(event)).toBeUndefined();
});

test('[L/contains] gates are told apart by what their output contains', () => {
  expect(gateText({ run: 'make', contains: 'ok' })).toBe('make (output contains "ok")');
  expect(gateText({ run: 'make' })).toBe('make');
  expect(gateText({ run: 'make', contains: 'x'.repeat(1000) }).length).toBeLessThan(120);
});
