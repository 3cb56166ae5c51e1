import { expect, test } from 'vitest';
import { isFilter, wanted } from './filter.ts';

test.each(['*', 'run.*', 'run.completed', 'approval.waiting'])('%s is a filter', (filter) => {
  expect(isFilter(filter)).toBe(true);
});

test.each(['', 'run', '*.completed', 'run.*.x', 'Run.completed', 'run.completed '])(
  "'%s' is not a filter",
  (filter) => {
    expect(isFilter(filter)).toBe(false);
  },
);

test('a filter matches one type, a group of types, or everything', () => {
  const types = ['run.started', 'step.entered', 'runner.lost'];
  expect(wanted(['run.started'], types)).toEqual(['run.started']);
  expect(wanted(['run.*'], types)).toEqual(['run.started']);
  expect(wanted(['*'], types)).toEqual(types);
  expect(wanted([], types)).toEqual([]);
});
