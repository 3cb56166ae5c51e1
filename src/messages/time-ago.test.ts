import { expect, test } from 'vitest';
import { ago, duration, lasting } from './time-ago.ts';

const now = Date.UTC(2026, 10, 15, 12);
const minute = 60_000;

test.each([
  [0, 'just now'],
  // A clock that was set back never makes a time of the future.
  [-5 * minute, 'just now'],
  [59_999, 'just now'],
  [minute, '1 min ago'],
  [59 * minute, '59 min ago'],
  [60 * minute, '1 h ago'],
  [23 * 60 * minute, '23 h ago'],
  [24 * 60 * minute, '1 day ago'],
  [5 * 24 * 60 * minute, '5 days ago'],
  [61 * 24 * 60 * minute, '2026-09-15'],
])('%d ms back is %s', (past, words) => {
  expect(ago(now - past, now)).toBe(words);
});

test.each([
  [420, '0.4 s'],
  [12_300, '12 s'],
  [185_000, '3 min 5 s'],
])('%d ms last %s', (ms, words) => {
  expect(lasting(ms)).toBe(words);
});

test.each([
  ['30d', 30 * 24 * 60 * minute],
  ['90m', 90 * minute],
  ['2 w', 14 * 24 * 60 * minute],
  ['30', undefined],
  ['-1d', undefined],
  ['soon', undefined],
])('%s is a duration of %s', (text, ms) => {
  expect(duration(text)).toBe(ms);
});
