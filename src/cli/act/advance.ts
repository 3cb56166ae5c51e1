import { commandName } from '../../command-name.ts';
import { readArgs } from '../args.ts';
import { usageError } from '../exit.ts';
import type { Io } from '../io.ts';
import { perform } from '../perform.ts';
import { positionOptions } from '../run-options.ts';
import { readText, readTextFile } from './read-text.ts';

export const options = {
  ...positionOptions,
  output: { type: 'string', short: 'o' },
  'output-file': { type: 'string' },
  wait: { type: 'string' },
} as const;

export async function run(args: readonly string[], io: Io): Promise<number> {
  const { values, positionals } = readArgs(args, options, { max: 1 });
  const ways = [values.output, values['output-file'], positionals[0]].filter((way) => way !== undefined);
  if (ways.length > 1)
    throw usageError('Pass the output once: with --output, with --output-file or as an argument.');
  const file = values['output-file'];
  const output =
    file === undefined ? await readText(values.output ?? positionals[0], io) : readTextFile(file, io);
  if (output.trim() === '')
    throw usageError(
      `The output is empty. Describe what was done: ${commandName()} advance --output "what was done"`,
    );
  return await perform(io, values, { type: 'advance', output, at: values.at });
}
