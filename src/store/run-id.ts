import { StepfastError } from '../errors.ts';

const pattern = /^[a-z0-9-]{1,128}$/;

/** A run's id is also its directory name, so other characters are not allowed. */
export const isRunId = (run: string): boolean => pattern.test(run);

/** Whether the name is the run's id or its suffix, which every handle starts with. */
export const matchesRunName = (run: string, name: string): boolean =>
  run === name || run.endsWith(`-${name}`);

export function requireRunId(run: string): void {
  if (isRunId(run)) return;
  throw new StepfastError(
    'bad_run_id',
    `'${run}' is not a run id: use at most 128 lowercase letters, digits and hyphens`,
    { data: { run } },
  );
}
