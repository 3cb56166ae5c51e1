import { expect, test } from 'vitest';
import { StepfastError } from '../../errors.ts';
import { isMissingMonth, isTransient, keepsConnection, toStepfastError } from './postgres-errors.ts';

const failure = (message: string, code?: string): Error =>
  Object.assign(new Error(message), code === undefined ? {} : { code });

test.each([
  [failure('terminating connection due to administrator command', '57P01')],
  [failure('the database system is starting up', '57P03')],
  [failure('connect ECONNREFUSED', 'ECONNREFUSED')],
  [failure('Connection terminated unexpectedly')],
  [failure('Client has encountered a connection error and is not queryable')],
  [failure('connection failure', '08006')],
  [failure('deadlock detected', '40P01')],
])('%s is transient', (error) => {
  expect(isTransient(error)).toBe(true);
  expect(keepsConnection(error)).toBe(false);
});

test.each([
  [failure('canceling statement due to statement timeout', '57014')],
  [failure('could not extend file: No space left on device', '53100')],
  [failure('duplicate key', '23505')],
  [failure('timeout exceeded when trying to connect')],
  [new StepfastError('store_corrupt', 'x')],
])('%s is not transient', (error) => {
  expect(isTransient(error)).toBe(false);
});

test.each([
  ['store_busy', failure('timeout exceeded when trying to connect')],
  ['store_busy', failure('canceling statement due to lock timeout', '55P03')],
  ['store_failed', failure('canceling statement due to statement timeout', '57014')],
  ['store_failed', failure('No space left on device', '53100')],
  ['store_failed', failure('Connection terminated unexpectedly')],
  ['schema_old', failure('relation "stepfast.runs" does not exist', '42P01')],
  ['schema_old', failure('role "stepfast_app" does not exist', '22023')],
  ['store_corrupt', new SyntaxError('Unexpected token')],
])('becomes %s: %s', (code, error) => {
  expect(toStepfastError("run 'x'", error)).toMatchObject({
    code,
    cause: error,
    message: expect.stringContaining("run 'x'"),
  });
});

test('a StepfastError stays as it is', () => {
  const error = new StepfastError('no_run', 'x');
  expect(toStepfastError('y', error)).toBe(error);
});

test('a missing month is recognized by its message', () => {
  expect(isMissingMonth(failure('no partition of relation "events" found for row', '23514'))).toBe(true);
  expect(isMissingMonth(failure('violates check constraint', '23514'))).toBe(false);
});
