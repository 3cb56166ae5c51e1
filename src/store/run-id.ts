import { StepfastError } from '../errors.ts';

const pattern = /^[a-z0-9-]{1,128}$/;

/** A run's id is the name of its directory, so nothing else may be one. */
export const isRunId = (run: string): boolean => pattern.test(run);

/** The run's whole id, or the end of it that every handle begins with. */
export const matchesRunName = (run: string, name: string): boolean =>
  run === name || run.endsWith(`-${name}`);

export function requireRunId(run: string): void {
  if (isRunId(run)) return;
  throw new StepfastError(
    'bad_run_id',
    `'${run}' is no run id: use lower-case letters, digits and hyphens, at most 128`,
    { data: { run } },
  );
}
