import { commandName } from '../../command-name.ts';
import { readArgs } from '../args.ts';
import { person, personOnly } from '../caller.ts';
import type { Io } from '../io.ts';
import { perform, printRefusal } from '../perform.ts';
import { runNamed } from '../run-name.ts';
import { openRuntime, runOptions } from '../run-options.ts';

export const options = runOptions;

export const run = (args: readonly string[], io: Io): Promise<number> => setPaused(args, io, 'pause');

/** Only a person pauses a run and lets it continue. */
export async function setPaused(args: readonly string[], io: Io, type: 'pause' | 'unpause'): Promise<number> {
  const { values, positionals } = readArgs(args, options, { max: 1 });
  const refused = personOnly(io, `${type} a run`, `${commandName()} ${type}`);
  if (refused) return printRefusal(refused, io, values);
  const runtime = openRuntime(io, values);
  const found = await runtime.chooseRun({ run: runNamed(positionals, values) });
  if ('code' in found) return printRefusal(found, io, values);
  return await perform(io, values, { type }, { runtime, who: person(io), run: found.run });
}
