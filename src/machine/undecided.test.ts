import { expect, test } from 'vitest';
import { checking } from '../../test/kit/gated-run.ts';
import { action, cursor, Run, ralph, workflow } from '../../test/kit/run.ts';

const condition = 'size(state.x) > 0';
const why = 'The condition "size(state.x) > 0" cannot be decided: no such overload';

function undecided(run: Run, gate = 0) {
  const receipts = (checking(run)?.gates ?? []).map((_, index) =>
    index === gate
      ? { gate: index, pass: false, undecided: true as const, tail: why }
      : { gate: index, pass: true },
  );
  return run.engine({ type: 'gatesFinished', id: checking(run)?.id ?? '', receipts });
}

test('M7: a gate whose condition cannot be decided makes the run wait with the error', () => {
  const run = new Run(workflow([action('build', { gate: [{ condition }] }), action('end')]));
  run.advance('done');
  expect(undecided(run)).toMatchObject({
    status: 'waiting',
    waiting: { for: 'blocked', by: 'human', reason: why },
    action: { do: 'wait', for: 'decision' },
  });
  expect(run.types()).toEqual(['gates.finished', 'position.blocked']);
  expect(run.person({ type: 'review', verdict: 'approve' })).toMatchObject({ code: 'bad_verdict' });
  expect(run.person({ type: 'review', verdict: 'revise', feedback: 'Note x' })).toMatchObject({
    status: 'running',
  });
  expect(cursor(run)).toMatchObject({ visit: 2, failures: 0 });
});

test('M7: the same holds for a check at the end of a turn and for until', () => {
  const run = new Run(workflow([action('build', { gate: [{ condition }] }), action('end')]));
  run.send({ type: 'check', at: run.status().at ?? '', output: 'done' });
  expect(undecided(run)).toMatchObject({ waiting: { for: 'blocked', reason: why } });
  const polish = new Run(workflow([ralph('polish', 3, { until: [{ run: 'make' }, { condition }] })]));
  polish.advance('first');
  expect(undecided(polish, 1)).toMatchObject({ waiting: { for: 'blocked', reason: why } });
});

test('M7: a required artifact whose condition cannot be decided makes the run wait with the error', () => {
  const run = new Run(workflow([action('build', { gate: [{ run: 'make' }] }), action('end')]));
  const { at = '' } = run.status();
  expect(run.send({ type: 'advance', at, output: 'done', undecided: why })).toMatchObject({
    status: 'waiting',
    waiting: { for: 'blocked', reason: why },
  });
  expect(checking(run)).toBeUndefined();
});

test('M7: a check at the end of a turn does not leave a position whose required artifact is missing', () => {
  const run = new Run(workflow([action('build', { gate: [{ run: 'make' }] }), action('end')]));
  const { at = '' } = run.status();
  expect(run.send({ type: 'check', at, output: 'done', missing: ['spec'] })).toMatchObject({
    code: 'missing_artifact',
  });
});
