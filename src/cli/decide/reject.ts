import { commandName } from '../../command-name.ts';
import { readText } from '../act/read-text.ts';
import { readArgs } from '../args.ts';
import type { Io } from '../io.ts';
import { positionOptions } from '../run-options.ts';
import { giveVerdict } from './verdict.ts';

export const options = positionOptions;

export async function run(args: readonly string[], io: Io): Promise<number> {
  const { values, positionals } = readArgs(args, options, { min: 1, max: 1, what: 'feedback' });
  const decision = { verdict: 'revise' as const, feedback: await readText(positionals[0], io) };
  return await giveVerdict(io, values, decision, `${commandName()} reject "what is missing"`);
}
