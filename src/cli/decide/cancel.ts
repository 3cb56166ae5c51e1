import { printable } from '../../messages/index.ts';
import { readArgs } from '../args.ts';
import { person, personOnly } from '../caller.ts';
import { agreed } from '../confirm.ts';
import { usageError } from '../exit.ts';
import type { Io } from '../io.ts';
import { perform, printRefusal } from '../perform.ts';
import { suffixOf } from '../run-name.ts';
import { given, openRuntime, runOptions } from '../run-options.ts';
import { declined } from './verdict.ts';

export const options = { ...runOptions, yes: { type: 'boolean', short: 'y' } } as const;

export async function run(args: readonly string[], io: Io): Promise<number> {
  const { values, positionals } = readArgs(args, options, { max: 1 });
  const refused = personOnly(io, 'cancelling a run', 'stepfast cancel');
  if (refused) return printRefusal(refused, io, values);
  const runtime = openRuntime(io, values);
  const [reason] = positionals;
  const meant = (await runtime.engine.ids()).find((id) => id === reason || suffixOf(id) === reason);
  if (meant !== undefined && values.run === undefined)
    throw usageError(
      `'${reason}' is a run, and cancel takes a reason: stepfast cancel --run ${reason} "why"`,
    );
  const found = await runtime.chooseRun({ run: values.run });
  if ('code' in found) return printRefusal(found, io, values);
  const summary = (await runtime.engine.view(found.run))?.state.summary;
  const what = summary === undefined ? found.run : `${found.run} (${printable(summary)})`;
  if (!values.yes && !(await agreed(io, `End ${what} for good?`))) return declined(io, values);
  const request = { type: 'cancel' as const, ...given({ reason }) };
  return await perform(io, values, request, { runtime, who: person(io), run: found.run });
}
