import { StepfastError } from '../../errors.ts';

const readOnlyCode = '25006';
/** Errors of PostgreSQL or the connection that a retry may solve. */
const transientCodes = new Set([
  '40001', // serialization_failure
  '40P01', // deadlock_detected
  readOnlyCode, // a standby that is about to be promoted
  '53300', // too_many_connections
  '57P01', // admin_shutdown
  '57P02', // crash_shutdown
  '57P03', // cannot_connect_now
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOENT',
  'EPIPE',
  'ETIMEDOUT',
]);
const missingObjectCodes = new Set(['3F000', '42P01', '42883', '42703', '42704', '22023']);
const poolTimeoutMessage = 'timeout exceeded when trying to connect';
const connectionLost =
  /^(Connection terminated|Client has encountered a connection error|Client was closed|timeout expired)/;

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

const messageOf = (error: unknown): string => {
  if (error instanceof AggregateError && error.errors.length > 0) return messageOf(error.errors[0]);
  return error instanceof Error ? error.message : String(error);
};

/** Whether the connection failed rather than the call. */
export function isTransient(error: unknown): boolean {
  if (error instanceof StepfastError) return false;
  const code = codeOf(error);
  return transientCodes.has(code) || code.startsWith('08') || connectionLost.test(messageOf(error));
}

/** Whether the connection is still usable after this error. */
export const keepsConnection = (error: unknown): boolean => /^(22|23|42|P0)/.test(codeOf(error));

/** Whether the connection leads to a node that takes no writes. */
export const isReadOnly = (error: unknown): boolean => codeOf(error) === readOnlyCode;

/** Whether the table of the run's month is missing. */
export const isMissingMonth = (error: unknown): boolean =>
  codeOf(error) === '23514' && messageOf(error).includes('no partition of relation');

/** Whether the call did not start because of other calls. */
export const isBusy = (error: unknown): boolean =>
  messageOf(error) === poolTimeoutMessage || codeOf(error) === '55P03';

/** A retry that did not start says nothing about the first try, whose connection was lost. */
export const outcomeUnknown = (error: unknown): Error =>
  new Error(`the connection was lost, and the retry failed: ${messageOf(error)}`, { cause: error });

/** Whether the role lacks a privilege. */
export const isForbidden = (error: unknown): boolean => codeOf(error) === '42501';

/** Turns any error into a StepfastError that says what to do. */
export function toStepfastError(what: string, error: unknown): StepfastError {
  if (error instanceof StepfastError) return error;
  const code = codeOf(error);
  const why = messageOf(error);
  const options = { cause: error, data: { postgres: code } };
  if (error instanceof SyntaxError)
    return new StepfastError('store_corrupt', `${what} is damaged (${why}): restore it from a backup`, {
      cause: error,
      data: { home: 'server' },
    });
  if (isBusy(error))
    return new StepfastError(
      'store_busy',
      `${what}: nothing was done, because too many calls are waiting for PostgreSQL: try again`,
      options,
    );
  if (missingObjectCodes.has(code))
    return new StepfastError('schema_old', `${what}: ${why}: run \`stepfast migrate\` first`, options);
  if (isForbidden(error))
    return new StepfastError('store_failed', `${what}: PostgreSQL does not allow it (${why})`, options);
  return new StepfastError(
    'store_failed',
    `${what}: PostgreSQL failed (${why}), so it is unknown whether it was done: send the same call again with its key`,
    options,
  );
}

export async function wrapErrors<T>(what: string, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    throw toStepfastError(what, error);
  }
}
