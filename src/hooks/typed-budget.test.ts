import { expect, test } from 'vitest';
import { parseBudget } from './typed-budget.ts';

test.each([
  ['+20 turns', { turns: 20 }],
  ['20', { tokens: 20 }],
  ['200k tokens and 30 minutes', { tokens: 200_000, minutes: 30 }],
  ['+1.5m tokens', { tokens: 1_500_000 }],
  ['1,000 tokens', { tokens: 1000 }],
  ['1 turn', { turns: 1 }],
  ['+$2.50', { cost: 2.5 }],
  ['5 dollars', { cost: 5 }],
])('%j is an amount', (words, amount) => {
  expect(parseBudget(words, 'tokens')).toEqual({ type: 'review', verdict: 'approve', amount });
});

test.each([
  '',
  'more',
  '20 bananas',
  'turns',
  '-5 turns',
  '1.000.000 tokens',
  '1,5k tokens',
  '20 turns please',
])('%j is none', (words) => {
  expect(parseBudget(words, 'turns')).toBeUndefined();
});

test.each(['30m', '+30 m', '2k'])('%j is no number of minutes', (words) => {
  expect(parseBudget(words, 'minutes')).toBeUndefined();
});

test('[A1] a pivot may grant more, which the budget of the run needs', () => {
  const pivot = { type: 'review', verdict: 'pivot' };
  expect(parseBudget('pivot +20 turns smaller steps', 'turns')).toEqual({
    ...pivot,
    amount: { turns: 20 },
    feedback: 'smaller steps',
  });
  expect(parseBudget('pivot +$5', 'cost')).toEqual({ ...pivot, amount: { cost: 5 } });
  expect(parseBudget('pivot 3 steps back', 'turns')).toEqual({ ...pivot, feedback: '3 steps back' });
});

test('a number alone needs a budget that is used up', () => {
  expect(parseBudget('20', undefined)).toBeUndefined();
});

test.each(['pivot', 'escalate', 'abandon'])('%s is a verdict, with a reason', (verdict) => {
  expect(parseBudget(`${verdict} too much`, 'turns')).toEqual({
    type: 'review',
    verdict,
    feedback: 'too much',
  });
  expect(parseBudget(verdict, 'turns')).toEqual({ type: 'review', verdict });
});
