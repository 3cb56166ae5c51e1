import { describe, expect, test } from 'vitest';
import { action, loop, Run, ralph, workflow } from '../../test/kit/run.ts';
import type { Command } from '../schema/index.ts';
import { decide } from './decide.ts';

describe('start', () => {
  test('[000/9] the summary is trimmed, and longer than 100 characters becomes 97 and three dots', () => {
    const summary = (text: string) => {
      const run = new Run(workflow([action('a')]), { start: false });
      run.send({ type: 'start', run: 'x-1-a', summary: text });
      return run.state.summary;
    };
    expect(summary('  short  ')).toBe('short');
    expect(summary('x'.repeat(100))).toBe('x'.repeat(100));
    expect(summary('x'.repeat(101))).toBe(`${'x'.repeat(97)}...`);
    expect(summary('   ')).toBeUndefined();
  });

  test('[000/13] a second start restores the run where it stands', () => {
    const run = new Run(workflow([action('a'), action('b', { context: 'clear' })]));
    run.advance('done');
    const again = run.send({ type: 'start', run: 'other-1-zzz' });
    expect(again).toMatchObject({ run: 'demo-20261115-k3f9x2ab', step: 'b', instructions: 'Do b' });
    expect(run.types()).toEqual(['boundary.released']);
  });

  test('inputs are checked against what the workflow declares', () => {
    const definition = workflow(
      [action('a', { instructions: 'Fix {input.issue} at {input.level}, {input.dry}' })],
      {
        inputs: {
          issue: { type: 'string', required: true },
          level: { type: 'number', default: 3 },
          dry: { type: 'boolean' },
        },
      },
    );
    const start = (inputs?: Record<string, string | number | boolean>) => {
      const run = new Run(definition, { start: false });
      return run.send({ type: 'start', run: 'x-1-a', ...(inputs ? { inputs } : {}) });
    };
    const bad = (params: object) => ({ code: 'bad_input', params: { workflow: 'demo', ...params } });
    expect(start()).toEqual(bad({ why: 'missing', name: 'issue' }));
    expect(start({ issue: 7 })).toEqual(bad({ why: 'type', name: 'issue', type: 'string' }));
    expect(start({ issue: 'x', level: '3' })).toEqual(bad({ why: 'type', name: 'level', type: 'number' }));
    expect(start({ issue: 'x', isue: 'y' })).toEqual(
      bad({ why: 'unknown', name: 'isue', inputs: ['issue', 'level', 'dry'] }),
    );
    expect(start({ issue: 'login', dry: true })).toMatchObject({ instructions: 'Fix login at 3, true' });
    expect(start({ issue: 'login' })).toMatchObject({ instructions: 'Fix login at 3, ' });
    const none = new Run(workflow([action('a')]), { start: false });
    expect(none.send({ type: 'start', run: 'x-1-a', inputs: { toString: 'x' } })).toEqual(
      bad({ why: 'unknown', name: 'toString', inputs: [] }),
    );
  });

  test('a start keeps the hash of the definition and what is known of its session', () => {
    const run = new Run(workflow([action('a')]), { start: false });
    const facts = {
      host: 'claude-code',
      witness: 'hooks' as const,
      environment: { hostname: 'a' },
      worktree: 'w',
    };
    run.send({ type: 'start', run: 'x-1-a', session: 'A', hash: 'sha256:1', facts });
    expect(run.state.hash).toBe('sha256:1');
    expect(run.state.sessions.A).toEqual({ ...facts, startedAt: run.now, completed: [], resets: 0 });
    const plain = new Run(workflow([action('a')]), { start: false });
    plain.send({ type: 'start', run: 'x-1-a' });
    expect(plain.state.sessions).toEqual({});
  });

  test('nothing but a start, an adoption or an import begins a run', () => {
    const definition = workflow([action('a')]);
    const commands: Command[] = [
      { now: 0, type: 'status' },
      { now: 0, type: 'advance', output: 'x' },
      { now: 0, type: 'cancel' },
    ];
    for (const command of commands)
      expect(decide(definition, null, command)).toMatchObject({ code: 'not_started' });
  });
});

describe('advance', () => {
  test('[000/7] outputs stand under step, step.iteration and step.task.subStep', () => {
    const definition = workflow([action('plan'), ralph('polish', 2), loop('build')], {
      loops: { build: [{ id: 'code', instructions: 'C' }] },
    });
    const run = new Run(definition);
    run.advance('a');
    run.advance('b');
    run.advance('c');
    run.tasks('build', 't1');
    run.advance('d');
    const texts = Object.entries(run.state.outputs).map(([key, output]) => [key, output.text]);
    expect(texts).toEqual([
      ['plan', 'a'],
      ['polish.1', 'b'],
      ['polish.2', 'c'],
      ['build.t1.code', 'd'],
    ]);
    expect(run.state.status).toBe('complete');
  });

  test('[000/13] advance on a run that is not running returns its status', () => {
    const run = new Run(workflow([action('a')]));
    run.advance('done');
    expect(run.advance('more')).toMatchObject({ status: 'complete', phase: { status: 'completed' } });
    expect(run.last).toEqual([]);
    const cancelled = new Run(workflow([action('a')]));
    cancelled.person({ type: 'cancel', reason: 'changed my mind' });
    expect(cancelled.advance('more')).toMatchObject({ status: 'cancelled', reason: 'changed my mind' });
    expect(cancelled.status().action).toMatchObject({ do: 'nothing', because: 'cancelled' });
  });

  test('[000/13] an output that is not a string is an error', () => {
    const run = new Run(workflow([action('a')]));
    for (const output of [undefined, 7, null, ['x'], {}]) {
      // What an untyped caller may send.
      const command = { type: 'advance' as const, output: output as unknown as string };
      expect(run.send(command)).toEqual({ code: 'bad_output', params: { why: 'not_text' } });
    }
    expect(run.state.outputs).toEqual({});
  });

  test('[000/14] a step with an agent is delegated', () => {
    const run = new Run(
      workflow([action('plan'), action('check', { agent: 'reviewer' }), loop('build', { agent: 'coder' })], {
        loops: {
          build: [
            { id: 'a', instructions: 'A' },
            { id: 'b', instructions: 'B', agent: 'tester' },
          ],
        },
      }),
    );
    const plan = run.status();
    expect(plan).toMatchObject({ agent: null });
    expect(plan).not.toHaveProperty('delegate');
    expect(run.advance('x')).toMatchObject({ agent: 'reviewer', delegate: true });
    run.advance('y');
    expect(run.tasks('build', 't')).toMatchObject({ agent: 'coder', delegate: true });
    expect(run.advance('z')).toMatchObject({ agent: 'tester' });
  });

  test('repeating an accepted handle replays, whatever it says, and changes nothing', () => {
    const run = new Run(workflow([action('a'), action('b'), action('c')]));
    const at = run.status().at ?? '';
    run.advance('done', { at });
    expect(run.advance('done', { at })).toMatchObject({ replayed: true, at: 'k3f9x2ab:b#1', step: 'b' });
    expect(run.advance('something else', { at })).toMatchObject({ replayed: true });
    expect(run.last).toEqual([]);
    expect(run.state.outputs.a?.text).toBe('done');
  });

  test('without a handle the same output within a minute replays, and no longer', () => {
    const run = new Run(workflow([action('a'), action('b'), action('c')]));
    run.advance('done');
    run.now += 60_000;
    expect(run.advance('done')).toMatchObject({ replayed: true, step: 'b' });
    expect(run.advance('other')).toMatchObject({ step: 'c' });
    expect(run.advance('other')).toMatchObject({ replayed: true, step: 'c' });
    run.now += 60_001;
    expect(run.advance('other')).toMatchObject({ status: 'complete' });
  });

  test("without a handle another session's same words are not a replay", () => {
    const run = new Run(workflow([action('a'), action('b'), action('c')]));
    run.advance('done', { session: 'A' });
    expect(run.advance('done', { session: 'A' })).toMatchObject({ replayed: true, step: 'b' });
    expect(run.advance('done', { session: 'B' })).toMatchObject({ step: 'c' });
    expect(run.advance('done')).toMatchObject({ replayed: true, step: 'c' });
  });

  test('a handle replays the call that it took, and refuses the other', () => {
    const run = new Run(workflow([action('a', { on_fail: 'retry' }), action('b')]));
    const failed = run.status().at ?? '';
    run.send({ type: 'fail', reason: 'x', at: failed });
    expect(run.advance('done', { at: failed })).toMatchObject({
      code: 'stale_handle',
      params: { at: failed, was: 'failed' },
      action: { do: 'ask_status' },
    });
    const done = run.status().at ?? '';
    run.advance('done', { at: done });
    expect(run.send({ type: 'fail', reason: 'y', at: done })).toMatchObject({
      code: 'stale_handle',
      params: { at: done, was: 'advanced' },
      action: { do: 'ask_status' },
    });
    expect(run.send({ type: 'ask', text: 'What?', at: done })).toMatchObject({ code: 'stale_handle' });
    expect(run.state.questions).toEqual([]);
  });

  test('a foreign handle is refused also where the run waits or has ended', () => {
    const run = new Run(workflow([action('a', { review: { by: 'human' } })]));
    run.advance('x');
    expect(run.advance('x', { at: 'other:z#9' })).toMatchObject({ code: 'wrong_run' });
    run.person({ type: 'cancel' });
    expect(run.status({ at: 'garbage' })).toEqual({
      code: 'bad_handle',
      params: { given: 'garbage' },
      action: { do: 'ask_status' },
    });
    expect(run.status().phase?.status).toBe('blocked');
  });

  test('long outputs are compared by their digest', () => {
    const run = new Run(workflow([action('a'), action('b'), action('c')]));
    const long = { opening: 'x', digest: 'd1', bytes: 5000 };
    run.send({ type: 'advance', output: long });
    expect(run.send({ type: 'advance', output: { ...long } })).toMatchObject({ replayed: true });
    expect(run.send({ type: 'advance', output: { ...long, digest: 'd2' } })).toMatchObject({ step: 'c' });
  });

  test.each([
    ['rubbish', 'bad_handle'],
    ['k3f9x2ab:a#0', 'bad_handle'],
    ['zzz:a#1', 'wrong_run'],
    ['k3f9x2ab:a#2', 'stale_handle'],
    ['k3f9x2ab:b#1', 'stale_handle'],
    ['k3f9x2ab:__proto__#1', 'stale_handle'],
  ])('[pain 11] the handle %s is refused as %s, with the open one', (at, code) => {
    const run = new Run(workflow([action('a'), action('b')]));
    for (const reply of [
      run.advance('x', { at }),
      run.status({ at }),
      run.send({ type: 'fail', reason: 'x', at }),
    ]) {
      const open = 'k3f9x2ab:a#1';
      expect(reply).toMatchObject({ code, at: open, action: { do: 'continue', at: [open] } });
    }
  });
});

describe('fail', () => {
  test('retry takes the next visit, five times by default, then the run waits', () => {
    const run = new Run(workflow([action('a', { on_fail: 'retry' })]));
    for (let visit = 2; visit <= 6; visit += 1) {
      const reply = run.send({ type: 'fail', reason: `no ${visit}` });
      expect(reply).toMatchObject({
        at: `k3f9x2ab:a#${visit}`,
        status: 'running',
        last_failure: `no ${visit}`,
      });
    }
    expect(run.send({ type: 'fail', reason: 'no 6' })).toMatchObject({ replayed: true, at: 'k3f9x2ab:a#6' });
    expect(run.send({ type: 'fail', reason: 'no' })).toMatchObject({
      status: 'waiting',
      waiting: { for: 'blocked', by: 'human', reason: 'no' },
    });
    expect(run.status()).toMatchObject({ phase: { status: 'blocked' } });
  });

  test('abort fails the run; a step without on_fail waits', () => {
    const run = new Run(workflow([action('a', { on_fail: 'abort' }), action('b')]));
    expect(run.send({ type: 'fail', reason: 'no' })).toMatchObject({ status: 'failed', reason: 'no' });
    expect(run.send({ type: 'fail', reason: 'again' })).toMatchObject({ status: 'failed', reason: 'no' });
    const waits = new Run(workflow([action('a'), action('b')]));
    waits.send({ type: 'fail', reason: 'x'.repeat(3000) });
    expect(waits.types()).toEqual(['position.failed', 'position.blocked']);
    expect(waits.last[0]).toMatchObject({ reason: 'x'.repeat(2000) });
  });
});
