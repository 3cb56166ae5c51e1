import { readArgs } from '../args.ts';
import { exit } from '../exit.ts';
import type { Io } from '../io.ts';
import { openRuntime, projectOptions } from '../run-options.ts';

export const options = projectOptions;

export async function run(args: readonly string[], io: Io): Promise<number> {
  const { values, positionals } = readArgs(args, options, { min: 2, max: 2, what: 'run or id' });
  const [name = '', id = ''] = positionals;
  await openRuntime(io, values).runGates(name, id);
  return exit.ok;
}
