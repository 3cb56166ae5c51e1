import { expect, test } from 'vitest';
import { Run } from '../../test/kit/run.ts';
import type { Definition } from '../machine/index.ts';
import { stillWaits, waitsBegun } from './waits.ts';

const definition = (step: object): Definition => ({
  name: 'demo',
  description: 'a demonstration',
  steps: [{ id: 'build', type: 'action', ...step }],
});
const person = { kind: 'person', name: 'Ada' } as const;

test('a review by a person waits until it is decided', () => {
  const run = new Run(definition({ review: { by: 'human' } }));
  run.advance();
  const [wait, ...more] = waitsBegun(run.last);
  if (!wait) throw new Error('no wait began');
  expect(more).toEqual([]);
  expect(wait).toEqual({ of: 'position', since: run.now });
  expect(stillWaits(run.state, wait)).toBe(true);
  expect(stillWaits(run.state, { ...wait, since: wait.since - 1 })).toBe(false);
  run.send({ type: 'review', verdict: 'approve', actor: person });
  expect(stillWaits(run.state, wait)).toBe(false);
});

test("an agent's review is a wait only after it is escalated, and then one wait", () => {
  const run = new Run(definition({ review: { by: 'critic' } }));
  run.advance();
  const [request] = waitsBegun(run.last);
  if (!request) throw new Error('no wait began');
  expect(stillWaits(run.state, request)).toBe(false);
  run.now += 1000;
  run.send({ type: 'review', verdict: 'escalate', actor: { kind: 'agent', name: 'critic' } });
  const [escalation] = waitsBegun(run.last);
  if (!escalation) throw new Error('no wait began');
  expect(escalation.of).toBe('escalation');
  expect(stillWaits(run.state, request)).toBe(false);
  expect(stillWaits(run.state, escalation)).toBe(true);
  run.send({ type: 'review', verdict: 'approve', actor: person });
  expect(stillWaits(run.state, escalation)).toBe(false);
});

test('a question waits until it is answered, and an exhausted budget until it is extended', () => {
  const asking = new Run(definition({}));
  asking.send({ type: 'ask', text: 'which?' });
  const [question] = waitsBegun(asking.last);
  if (!question) throw new Error('no wait began');
  expect(stillWaits(asking.state, question)).toBe(true);
  asking.send({ type: 'answer', text: 'this', actor: person });
  expect(stillWaits(asking.state, question)).toBe(false);
  const spending = new Run(definition({ budget: { turns: 1 } }));
  spending.send({ type: 'spend', turns: 1 });
  const [budget] = waitsBegun(spending.last);
  if (!budget) throw new Error('no wait began');
  expect(stillWaits(spending.state, budget)).toBe(true);
  spending.send({ type: 'review', verdict: 'approve', amount: { turns: 5 }, actor: person });
  expect(stillWaits(spending.state, budget)).toBe(false);
});

test('an ended run has no open waits', () => {
  const run = new Run(definition({ review: { by: 'human' } }));
  run.advance();
  const [wait] = waitsBegun(run.last);
  if (!wait) throw new Error('no wait began');
  run.send({ type: 'cancel', reason: 'enough', actor: person });
  expect(stillWaits(run.state, wait)).toBe(false);
});

test('events without a wait start none', () => {
  const run = new Run(definition({}));
  run.advance();
  expect(waitsBegun(run.events)).toEqual([]);
});
