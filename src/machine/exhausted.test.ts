import { expect, test } from 'vitest';
import { action, cursor, Run, ralph, workflow } from '../../test/kit/run.ts';
import { loadWorkflowTemplateFromString } from '../definition/index.ts';
import type { Step } from '../schema/index.ts';
import { endedUnproven, gateOf } from './proof.ts';

const polish = (parts: Partial<Step> = {}): Run =>
  new Run(
    workflow([
      ralph('polish', 2, { until: [{ run: 'lint' }], on_exhausted: 'wait', ...parts }),
      action('end'),
    ]),
  );

function playOut(run: Run): void {
  for (const output of ['first', 'second']) {
    run.advance(output);
    run.gates({ red: 'lint' });
  }
}

test('A6: a new workflow waits when until never held, a pinned one completes', () => {
  const yaml = `name: x\nsteps: [{ id: polish, type: ralph, n: 2, instructions: Do, until: [{ run: lint }] }]`;
  expect(loadWorkflowTemplateFromString(yaml).steps[0]).toMatchObject({ on_exhausted: 'wait' });
  const run = polish();
  playOut(run);
  expect(run.status()).toMatchObject({
    status: 'waiting',
    waiting: { for: 'review', by: 'human', exhausted: 'polish' },
    red_until: [{ what: 'lint', pass: false }],
    action: { do: 'wait', for: 'review', by: 'person', exhausted: 'polish' },
  });
  const pinned = new Run(workflow([ralph('polish', 2, { until: [{ run: 'lint' }] }), action('end')]));
  playOut(pinned);
  expect(pinned.state.step).toBe('end');
  const last = pinned.state.outputs['polish.2'];
  expect(last && endedUnproven(pinned.definition, last)).toBe(true);
});

test('A6: approve accepts it as unproven, and only a person can', () => {
  const run = polish({ review: { by: 'reviewer' } });
  playOut(run);
  expect(
    run.send({ type: 'review', verdict: 'approve', actor: { kind: 'agent', name: 'reviewer' } }),
  ).toMatchObject({
    code: 'person_only',
  });
  run.person({ type: 'review', verdict: 'approve' });
  expect(run.state.step).toBe('end');
  const { 'polish.1': first, 'polish.2': last } = run.state.outputs;
  expect(last).toMatchObject({ reviewed: 'ann', receipts: [{ role: 'until', pass: false }] });
  expect(last && endedUnproven(run.definition, last)).toBe(true);
  expect(first && endedUnproven(run.definition, first)).toBe(false);
});

test('A6: revise gives one more round', () => {
  const run = polish();
  playOut(run);
  expect(run.person({ type: 'review', verdict: 'revise', feedback: 'Once more' })).toMatchObject({
    status: 'running',
    ralphIteration: 2,
  });
  run.advance('third');
  run.gates({ red: 'lint' });
  expect(run.state.status).toBe('waiting');
  run.person({ type: 'review', verdict: 'revise', feedback: 'Once more' });
  run.advance('fourth');
  run.gates();
  expect(run.state.step).toBe('end');
  const last = run.state.outputs['polish.2'];
  expect(last && endedUnproven(run.definition, last)).toBe(false);
});

test('A6: complete and fail', () => {
  const complete = polish({ on_exhausted: 'complete' });
  playOut(complete);
  expect(complete.state.step).toBe('end');
  const fail = polish({ on_exhausted: 'fail' });
  playOut(fail);
  expect(fail.state.status).toBe('failed');
  expect(fail.types()).toEqual(['gates.finished', 'position.failed', 'run.failed']);
});

test('A6: a red until is shown in the next iteration, but not while a gate is red', () => {
  const run = polish({ gate: [{ run: 'make' }] });
  run.advance('first');
  run.gates({ red: 'lint' });
  expect(run.status()).toMatchObject({ ralphIteration: 2, red_until: [{ what: 'lint' }] });
  run.advance('second');
  run.gates({ red: true });
  expect(run.status()).not.toHaveProperty('red_until');
  expect(cursor(run)?.waiting).toBeUndefined();
});

test('A6: on_exhausted needs until', () => {
  const file = (rest: string) => `name: x\nsteps: [{ id: a, type: ralph, n: 2, instructions: Do, ${rest} }]`;
  expect(() => loadWorkflowTemplateFromString(file('on_exhausted: wait'))).toThrow('until');
  expect(() =>
    loadWorkflowTemplateFromString(
      'name: x\nsteps: [{ id: a, type: action, instructions: Do, on_exhausted: wait }]',
    ),
  ).toThrow('ralph');
});

test('A8: a receipt belongs to the gate of its own position', () => {
  const definition = workflow([
    action('a', { gate: [{ exists: 'X.md' }] }),
    action('b', { gate: [{ read: ['X.md'] }] }),
  ]);
  const receipt = { gate: 0, role: 'gate', what: 'X.md', pass: true } as const;
  expect(gateOf(definition, 'k3f9x2ab:a#1', receipt)).toEqual({ exists: 'X.md' });
  expect(gateOf(definition, 'k3f9x2ab:b#2', receipt)).toEqual({ read: ['X.md'] });
  expect(gateOf(definition, 'k3f9x2ab:gone#2', receipt)).toBeUndefined();
});
