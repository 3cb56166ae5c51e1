import { expect, test } from 'vitest';
import { readState, writeState } from './dry-run-state.ts';

test('an address brings back the same dry run', () => {
  const state = { move: 12, tasks: 3, seed: 7 };
  expect(readState(writeState(state))).toEqual(state);
  expect(writeState({ move: 1, tasks: 2, seed: undefined }).toString()).toBe('');
});

test('nonsense in an address is ignored', () => {
  expect(readState(new URLSearchParams('move=-3&tasks=900&seed=x'))).toEqual({
    move: 1,
    tasks: 9,
    seed: undefined,
  });
});
