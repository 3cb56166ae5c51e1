import { StepfastError } from '../../errors.ts';

/** Turns errors of the file system into `store_failed`. */
export async function wrapFileErrors<T>(what: string, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    if (error instanceof StepfastError) throw error;
    const why = error instanceof Error ? error.message : String(error);
    const message = `${what} could not be read or written (${why}): fix the cause, then send the same call again`;
    throw new StepfastError('store_failed', message, { cause: error });
  }
}
