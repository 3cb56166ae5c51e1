import { readArgs } from '../args.ts';
import { holderOf } from '../caller.ts';
import { usageError } from '../exit.ts';
import type { Io } from '../io.ts';
import { perform } from '../perform.ts';
import { runOptions } from '../run-options.ts';

export const options = { ...runOptions, as: { type: 'string' } } as const;

export async function run(args: readonly string[], io: Io): Promise<number> {
  const { values, positionals } = readArgs(args, options, { max: 1 });
  const holder = holderOf(io, values.as);
  if (holder === undefined)
    throw usageError('A claim needs a name: pass --as <name> or set STEPFAST_SESSION.');
  return await perform(io, values, { type: 'claim', holder, task: positionals[0] });
}
