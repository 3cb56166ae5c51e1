import { describe, expect, test } from 'vitest';
import { action, cursor, loop, Run, workflow } from '../../test/kit/run.ts';
import { loadWorkflowTemplateFromString } from '../definition/index.ts';
import type { Step, SubStep } from '../schema/index.ts';

const gate = [{ run: 'npm test' }];

function redUntilStopped(run: Run): number {
  let reds = 0;
  while (run.state.status === 'running' && reds < 30) {
    run.advance(`try ${reds}`);
    run.gates({ red: true });
    reds += 1;
  }
  return reds;
}

const stepRun = (on_fail: Step['on_fail']): Run =>
  new Run(workflow([action('build', { gate, ...(on_fail && { on_fail }) }), action('end')]));

const loopRun = (on_fail: SubStep['on_fail']): Run => {
  const subStep: SubStep = { id: 'code', instructions: 'Code', gate, ...(on_fail && { on_fail }) };
  const run = new Run(workflow([loop('build'), action('end')], { loops: { build: [subStep] } }));
  run.tasks('build', 'a', ['b', 'a'], 'c');
  return run;
};

describe('on_fail: { retry, then }', () => {
  test('A11: a new workflow with attempts: 2 allows two red gates, a pinned one as many as before', () => {
    const yaml = `name: x\nsteps: [{ id: build, type: action, instructions: Do, on_fail: retry, attempts: 2, gate: [{ run: npm test }] }]`;
    const definition = loadWorkflowTemplateFromString(yaml);
    expect(definition.steps[0]).toMatchObject({ on_fail: { retry: 2, then: 'wait' } });
    expect(definition.steps[0]).not.toHaveProperty('attempts');
    const run = new Run(definition);
    expect(redUntilStopped(run)).toBe(2);
    expect(cursor(run)?.waiting?.kind).toBe('blocked');
    const pinned = new Run(workflow([action('build', { gate, on_fail: 'retry', attempts: 2 })]));
    expect(redUntilStopped(pinned)).toBe(6);
  });

  test('A11: red gates and failures are counted together, once', () => {
    const run = stepRun({ retry: 3 });
    run.advance('one');
    run.gates({ red: true });
    expect(run.send({ type: 'fail', reason: 'No' })).toMatchObject({ status: 'running' });
    expect(cursor(run)).toMatchObject({ visit: 2, failures: 2, reds: 0 });
    run.advance('two');
    run.gates({ red: true });
    expect(run.state.status).toBe('waiting');
    run.person({ type: 'review', verdict: 'revise', feedback: 'Again' });
    expect(redUntilStopped(run)).toBe(3);
  });

  test('A11: failures alone end in the same way', () => {
    const run = stepRun({ retry: 2, then: 'abort' });
    run.send({ type: 'fail', reason: 'one' });
    expect(run.state.status).toBe('running');
    run.send({ type: 'fail', reason: 'two' });
    expect(run.state).toMatchObject({ status: 'failed', reason: 'two' });
  });

  test('A11: then skips the task and those that depend on it, or ends the run', () => {
    const skip = loopRun({ retry: 2, then: 'skip' });
    skip.advance('a');
    skip.gates({ red: true });
    skip.advance('b');
    skip.gates({ red: true });
    expect(skip.state.tasks.build?.byId).toMatchObject({ a: { end: 'failed' }, b: { end: 'skipped' } });
    expect(skip.status()).toMatchObject({ task: { id: 'c' } });
    const abort = loopRun({ retry: 1, then: 'abort' });
    expect(redUntilStopped(abort)).toBe(1);
    expect(abort.state.status).toBe('failed');
  });

  test('A11: a task that another session takes over keeps its count', () => {
    const subStep: SubStep = { id: 'code', instructions: 'Code', gate, on_fail: { retry: 2 } };
    const steps = [loop('build', { parallel: 2 }), action('end')];
    const run = new Run(workflow(steps, { loops: { build: [subStep] } }));
    run.tasks('build', 'a');
    const { at = '' } = run.claim('A');
    run.advance('x', { at, session: 'A' });
    run.gates({ red: true });
    run.now += 60 * 60_000;
    run.claim('B');
    expect(cursor(run)).toMatchObject({ lease: { holder: 'B' }, failures: 1 });
  });

  test('A11: the numbers are given once', () => {
    const file = (rest: string) =>
      `name: x\nsteps: [{ id: a, type: action, instructions: Do, gate: [{ run: x }], ${rest} }]`;
    const load = (rest: string) => () => loadWorkflowTemplateFromString(file(rest));
    expect(load('on_fail: { retry: 2, then: abort }')).not.toThrow();
    expect(load('on_fail: { retry: 2, then: abort }, attempts: 3')).toThrow('attempts');
    expect(load('on_fail: { retry: 2, then: skip }')).toThrow();
    expect(load('on_fail: { retry: 0 }')).toThrow();
    expect(load('on_fail: { then: wait }')).toThrow();
  });
});
