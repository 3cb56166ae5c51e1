import { expect, test } from 'vitest';
import { maestro } from '../../test/kit/reviewed-run.ts';
import { action, loop, Run, workflow } from '../../test/kit/run.ts';
import type { Definition, NotificationEvent } from '../schema/index.ts';
import { type Notification, notificationsOf } from './notifications.ts';
import type { State } from './state.ts';

const all: Pick<Definition, 'notify'> = { notify: ['waiting', 'ended', 'budget'] };

/** What the last of these acts tells. */
function toldBy(run: Run, ...acts: (() => unknown)[]): Pick<Notification, 'event' | 'kind'>[] {
  let before: State = run.state;
  for (const act of acts) {
    before = run.state;
    act();
  }
  return notificationsOf(run.definition, before, run.state);
}

test('[L/notify] a review by a person is told once, with position and workflow', () => {
  const run = new Run(maestro(all));
  const told = toldBy(run, () => run.advance('The plan'));
  expect(told).toEqual([
    {
      event: 'waiting',
      kind: 'review',
      run: run.state.run,
      workflow: run.state.workflow,
      position: 'planning',
    },
  ]);
  expect(toldBy(run, () => run.advance('Another'))).toEqual([]);
  expect(toldBy(run, () => run.person({ type: 'review', verdict: 'approve' }))).toEqual([]);
});

test('[L/notify] a review by an agent is no wait for a person, until it is escalated', () => {
  const run = new Run(workflow([action('code', { review: { by: 'reviewer' } })], all));
  expect(toldBy(run, () => run.advance('Coded', { session: 's' }))).toEqual([]);
  const escalate = { type: 'review', verdict: 'escalate', feedback: 'Ask Ann', session: 'r' } as const;
  expect(toldBy(run, () => run.send(escalate))).toMatchObject([{ event: 'waiting', kind: 'review' }]);
});

test('[L/notify] a question, a blocked position and a blocked loop wait for a person, with the words', () => {
  const run = new Run(workflow([action('a')], all));
  expect(toldBy(run, () => run.send({ type: 'ask', text: 'Which?' }))).toMatchObject([
    { event: 'waiting', kind: 'question', text: 'Which?', position: 'a' },
  ]);
  const blocked = new Run(workflow([action('a', { title: 'Build it' })], all));
  expect(toldBy(blocked, () => blocked.send({ type: 'fail', reason: 'No disk' }))).toMatchObject([
    { event: 'waiting', kind: 'decision', position: 'Build it (a)' },
  ]);
  const tasks = new Run(
    workflow([loop('l')], { ...all, loops: { l: [{ id: 's', instructions: 'Do', on_fail: 'skip' }] } }),
  );
  tasks.tasks('l', 'one');
  expect(toldBy(tasks, () => tasks.send({ type: 'fail', reason: 'No' }))).toMatchObject([
    { event: 'waiting', kind: 'decision', position: 'l' },
  ]);
});

test('[L/notify] a used-up budget is told as budget, else as waiting, each time it is used up', () => {
  const budgeted = (notify: NotificationEvent[]) =>
    workflow([action('a', { budget: { turns: 2 } })], { notify });
  const spend = (run: Run) => () => run.send({ type: 'spend', turns: 2 });
  const both = new Run(budgeted(['waiting', 'budget']));
  expect(toldBy(both, spend(both))).toMatchObject([{ event: 'budget', kind: 'budget', unit: 'turns' }]);
  expect(toldBy(both, spend(both))).toEqual([]);
  const more = () => both.person({ type: 'review', verdict: 'approve', amount: { turns: 4 } });
  expect(toldBy(both, more, spend(both))).toMatchObject([{ event: 'budget' }]);
  const waiting = new Run(budgeted(['waiting']));
  expect(toldBy(waiting, spend(waiting))).toMatchObject([{ event: 'waiting', kind: 'budget' }]);
  const ended = new Run(budgeted(['ended']));
  expect(toldBy(ended, spend(ended))).toEqual([]);
});

test('[L/notify] every end is told once', () => {
  const complete = new Run(workflow([action('a')], all));
  expect(toldBy(complete, () => complete.advance())).toMatchObject([{ event: 'ended', kind: 'complete' }]);
  expect(toldBy(complete, () => complete.advance())).toEqual([]);
  const failed = new Run(workflow([action('a', { on_fail: 'abort' })], all));
  expect(toldBy(failed, () => failed.send({ type: 'fail', reason: 'No disk' }))).toMatchObject([
    { event: 'ended', kind: 'failed', text: expect.stringContaining('No disk') },
  ]);
  const cancelled = new Run(workflow([action('a')], all));
  const cancel = () => cancelled.person({ type: 'cancel', reason: 'Not needed' });
  expect(toldBy(cancelled, cancel)).toMatchObject([
    { event: 'ended', kind: 'cancelled', text: 'Not needed' },
  ]);
});

test('[L/notify] without notify, or for other events, nothing is told', () => {
  for (const parts of [{}, { notify: [] }, { notify: ['budget' as const] }]) {
    const run = new Run(workflow([action('a')], parts));
    expect(toldBy(run, () => run.send({ type: 'ask', text: 'Which?' }))).toEqual([]);
    expect(toldBy(run, () => run.person({ type: 'cancel', reason: 'x' }))).toEqual([]);
  }
});
