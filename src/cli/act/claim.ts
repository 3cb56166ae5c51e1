import { readArgs } from '../args.ts';
import { holderOf } from '../caller.ts';
import { usageError } from '../exit.ts';
import type { Io } from '../io.ts';
import { perform } from '../perform.ts';
import { given, runOptions } from '../run-options.ts';

export const options = { ...runOptions, as: { type: 'string' } } as const;

export async function run(args: readonly string[], io: Io): Promise<number> {
  const { values, positionals } = readArgs(args, options, { max: 1 });
  const holder = holderOf(io, values.as);
  if (holder === undefined)
    throw usageError('Who claims it? Say it with --as <name>, or set STEPFAST_SESSION for every call.');
  return await perform(io, values, { type: 'claim', holder, ...given({ task: positionals[0] }) });
}
