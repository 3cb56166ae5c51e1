import { readArgs } from '../args.ts';
import type { Io } from '../io.ts';
import { perform } from '../perform.ts';
import { positionOptions } from '../run-options.ts';
import { readText } from './read-text.ts';

export const options = positionOptions;

export async function run(args: readonly string[], io: Io): Promise<number> {
  const { values, positionals } = readArgs(args, options, { min: 1, max: 1, what: 'question' });
  const text = await readText(positionals[0], io);
  return await perform(io, values, { type: 'ask', text, at: values.at });
}
