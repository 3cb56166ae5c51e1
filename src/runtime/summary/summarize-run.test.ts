import { expect, test } from 'vitest';
import { action, loop, Run, workflow } from '../../../test/kit/run.ts';
import { summarizeRun } from './summarize-run.ts';

const definition = workflow(
  [
    action('plan', { title: 'Plan it', gate: [{ run: 'npm run lint' }], review: { by: 'human' } }),
    loop('build', { parallel: 2 }),
    action('close', { budget: { turns: 1 } }),
  ],
  { loops: { build: [{ id: 'code', instructions: 'x', on_fail: { retry: 1, then: 'wait' } }] } },
);

const summaryOf = ({ definition: of, state }: Run) =>
  summarizeRun({ run: state.run, definition: of, state, hash: '', version: { seq: 1, hash: '' } });

test('a summary says what happens now, and what waits for a person', () => {
  const run = new Run(definition);
  expect(summaryOf(run)).toMatchObject({
    tone: 'working',
    now: 'Plan it',
    needs: [],
    step: { index: 1, total: 3 },
    gates: { green: 0, red: 0 },
  });
  run.advance('Planned');
  expect(summaryOf(run)).toMatchObject({ tone: 'working', now: 'Plan it: running npm run lint' });
  run.gates({ red: true });
  expect(summaryOf(run)).toMatchObject({
    tone: 'red',
    now: 'Plan it: fixing npm run lint',
    gates: { red: 1 },
  });
  run.advance('Planned\nwith care');
  run.gates();
  expect(summaryOf(run)).toMatchObject({
    tone: 'person',
    now: 'Plan it waits for your review',
    needs: [{ kind: 'review', title: 'Plan it', what: 'Planned', at: run.status().at }],
  });
  run.person({ type: 'review', verdict: 'approve' });
  expect(summaryOf(run)).toMatchObject({ needs: [], gates: { green: 1, red: 0 }, step: { index: 2 } });
});

test('a review by an agent needs no person', () => {
  const reviewed = workflow(
    [action('plan', { title: 'Plan it', review: { by: 'critic' } }), action('build')],
    {
      agents: { critic: { description: 'Reviews' } },
    },
  );
  const run = new Run(reviewed);
  run.advance('Planned');
  expect(summaryOf(run)).toMatchObject({ tone: 'working', needs: [], now: 'Plan it is reviewed by critic' });
});

test('a step that asks for a fresh context waits for a person', () => {
  const run = new Run(workflow([action('plan'), action('build', { title: 'Build it', context: 'clear' })]));
  run.advance('Planned');
  expect(summaryOf(run)).toMatchObject({
    tone: 'person',
    now: 'Build it waits for a fresh context',
    needs: [{ kind: 'context', what: 'clear' }],
  });
});

test('tasks at once are counted, and one that waits does not hide those that work', () => {
  const run = new Run(definition);
  run.advance('Planned');
  run.gates();
  run.person({ type: 'review', verdict: 'approve' });
  run.tasks('build', 'one', 'two', 'three');
  const claimed = run.send({ type: 'claim', holder: 'A', session: 'A' });
  const at = 'at' in claimed ? claimed.at : undefined;
  run.send({ type: 'claim', holder: 'B', session: 'B' });
  expect(summaryOf(run)).toMatchObject({ now: 'build: 2 tasks at once', tasks: { done: 0, total: 3 } });
  run.send({ type: 'ask', text: 'Which colour?', session: 'A', at });
  expect(summaryOf(run)).toMatchObject({
    tone: 'person',
    needs: [{ kind: 'question', what: 'Which colour?' }],
  });
  expect(summaryOf(run).now).toMatch(/: code$/);
  run.send({ type: 'cancel', actor: { kind: 'person' }, reason: 'Not wanted' });
  expect(summaryOf(run)).toMatchObject({ tone: 'cancelled', now: 'cancelled: Not wanted', needs: [] });
});

test('a pause, a queue that is held and a parked task need a person', () => {
  const run = new Run(definition);
  run.person({ type: 'pause' });
  const paused = summaryOf(run);
  expect(paused).toMatchObject({ tone: 'person', needs: [{ kind: 'pause' }] });
  const held = { why: 'dirty' as const, reason: 'Commit a.txt', since: 5 };
  const merges = { one: { state: 'parked' as const, at: 'x', failures: 3, since: 4, reason: 'Conflict' } };
  const state = { ...run.state, held, merges };
  const { needs } = summarizeRun({
    ...{ run: state.run, definition, state, hash: '', version: { seq: 1, hash: '' } },
  });
  expect(needs.map(({ kind, what, task }) => [kind, what, task])).toEqual([
    ['merge', 'Conflict', 'one'],
    ['queue', 'Commit a.txt', undefined],
    ['pause', expect.any(String), undefined],
  ]);
});
