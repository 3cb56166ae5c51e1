import { suffixOf } from '../machine/index.ts';
import type { LocalRuntime } from '../runtime/index.ts';
import { usageError } from './exit.ts';

export { suffixOf };

/** The run's name for the next commands; undefined where it is the default. */
export async function runToName({ chooseRun }: LocalRuntime, run: string): Promise<string | undefined> {
  const meant = await chooseRun({ changes: true });
  return 'run' in meant && meant.run === run ? undefined : suffixOf(run);
}

/** Adds the given --at or --run to a command. */
export function withTarget(
  command: string,
  { run, at }: { run?: string | undefined; at?: string | undefined },
): string {
  if (at !== undefined) return `${command} --at ${at}`;
  return run === undefined ? command : `${command} --run ${run}`;
}

/** The run of a command that takes it as an argument or with `--run`. */
export function runNamed(
  [name]: readonly string[],
  { run }: { run?: string | undefined },
): string | undefined {
  if (name !== undefined && run !== undefined)
    throw usageError('Give the run either as an argument or with --run, not both.');
  return name ?? run;
}
