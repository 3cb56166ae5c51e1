import { commandName } from '../../command-name.ts';
import { printable } from '../../messages/index.ts';
import { readArgs } from '../args.ts';
import { person, personOnly } from '../caller.ts';
import { confirm, printDeclined } from '../confirm.ts';
import { usageError } from '../exit.ts';
import type { Io } from '../io.ts';
import { perform, printRefusal } from '../perform.ts';
import { suffixOf } from '../run-name.ts';
import { openRuntime, runOptions } from '../run-options.ts';

export const options = { ...runOptions, yes: { type: 'boolean', short: 'y' } } as const;

export async function run(args: readonly string[], io: Io): Promise<number> {
  const { values, positionals } = readArgs(args, options, { max: 1 });
  const refused = personOnly(io, 'cancel a run', `${commandName()} cancel`);
  if (refused) return printRefusal(refused, io, values);
  const runtime = openRuntime(io, values);
  const [reason] = positionals;
  const meant = (await runtime.engine.ids()).find((id) => id === reason || suffixOf(id) === reason);
  if (meant !== undefined && values.run === undefined)
    throw usageError(
      `'${reason}' is a run. Pass it with --run: ${commandName()} cancel --run ${reason} "why"`,
    );
  const found = await runtime.chooseRun({ run: values.run });
  if ('code' in found) return printRefusal(found, io, values);
  const summary = (await runtime.engine.view(found.run))?.state.summary;
  const what = summary === undefined ? found.run : `${found.run} (${printable(summary)})`;
  if (!values.yes && !(await confirm(io, `Cancel ${what}? It cannot be resumed.`)))
    return printDeclined(io, values);
  const request = { type: 'cancel' as const, reason };
  return await perform(io, values, request, { runtime, who: person(io), run: found.run });
}
