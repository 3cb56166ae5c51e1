import { suffixOf } from '../machine/index.ts';
import type { LocalRuntime } from '../runtime/index.ts';

export { suffixOf };

/** How the next commands must name the run; undefined where it is meant without a name. */
export async function runToName({ chooseRun }: LocalRuntime, run: string): Promise<string | undefined> {
  const meant = await chooseRun({ changes: true });
  return 'run' in meant && meant.run === run ? undefined : suffixOf(run);
}

/** The command that somebody else types, for the run or the position that was given. */
export function sameOne(
  command: string,
  { run, at }: { run?: string | undefined; at?: string | undefined },
): string {
  if (at !== undefined) return `${command} --at ${at}`;
  return run === undefined ? command : `${command} --run ${run}`;
}
