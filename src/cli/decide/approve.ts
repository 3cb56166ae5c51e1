import { commandName } from '../../command-name.ts';
import { readArgs } from '../args.ts';
import type { Io } from '../io.ts';
import { positionOptions } from '../run-options.ts';
import { giveVerdict } from './verdict.ts';

export const options = { ...positionOptions, feedback: { type: 'string' } } as const;

export async function run(args: readonly string[], io: Io): Promise<number> {
  const { values } = readArgs(args, options, { max: 0 });
  const decision = { verdict: 'approve' as const, feedback: values.feedback };
  return await giveVerdict(io, values, decision, `${commandName()} approve`);
}
