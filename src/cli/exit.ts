import { StepfastError } from '../errors.ts';

/** Exit statuses. Stable: scripts may rely on these numbers. */
export const exit = {
  /** It worked, and the answer is yes. */
  ok: 0,
  /** It worked, and the answer is no: a workflow is invalid, a call was refused, a gate is red. */
  no: 1,
  /** The command line is wrong. */
  usage: 2,
  /** A workflow, run or file that was named does not exist or cannot be read. */
  notFound: 3,
  /** Neither yes nor no yet: the gates are still running. Send the same call again. */
  pending: 4,
  /** `verify --run`: the checkout is not what the run proved. */
  differs: 5,
  /** Stepfast itself failed. */
  internal: 70,
} as const;

export const usageError = (message: string): StepfastError => new StepfastError('usage', message);
export const notFound = (message: string, cause?: unknown): StepfastError =>
  new StepfastError('not_found', message, { cause });

/** The only mapping from an error to an exit status. */
export function exitOf(error: unknown): number {
  if (!(error instanceof StepfastError)) return exit.internal;
  if (error.code === 'usage') return exit.usage;
  if (['not_found', 'no_workflow', 'no_run'].includes(error.code)) return exit.notFound;
  return exit.no;
}
