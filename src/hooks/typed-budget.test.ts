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

test.each(['', 'more', '20 bananas', 'turns'])('%j is none', (words) => {
  expect(parseBudget(words, 'turns')).toBeUndefined();
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
