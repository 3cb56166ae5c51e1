import { commandName } from '../../command-name.ts';
import { isFenced } from '../../machine/index.ts';
import { printable } from '../../messages/index.ts';
import { readArgs } from '../args.ts';
import { person, personOnly } from '../caller.ts';
import { confirm, printDeclined } from '../confirm.ts';
import type { Io } from '../io.ts';
import { perform, printRefusal } from '../perform.ts';
import { suffixOf, withTarget } from '../run-name.ts';
import { openRuntime, positionOptions } from '../run-options.ts';
import { handleOf } from './show-review.ts';

export const options = positionOptions;

export async function run(args: readonly string[], io: Io): Promise<number> {
  const { values } = readArgs(args, options, { max: 0 });
  const refused = personOnly(io, 'skip a context action', withTarget(`${commandName()} proceed`, values));
  if (refused) return printRefusal(refused, io, values);
  const runtime = openRuntime(io, values);
  const found = await runtime.chooseRun(values);
  if ('code' in found) return printRefusal(found, io, values);
  const state = (await runtime.engine.view(found.run))?.state;
  const open = Object.values(state?.cursors ?? {}).filter(
    // An empty session id: a boundary that one session has taken over is fenced for every other.
    ({ boundary }) => boundary && (boundary.state !== 'released' || isFenced(boundary, '')),
  );
  const cursor = open.find(
    (each) => state && (values.at === undefined || handleOf(state, each) === values.at),
  );
  if (!state || !cursor) {
    const message = `No position of ${found.run} waits for a context action.`;
    return printRefusal(
      { code: 'no_boundary', message, next: `See: ${commandName()} status ${suffixOf(found.run)}` },
      io,
      values,
    );
  }
  const at = handleOf(state, cursor);
  const context = cursor.boundary?.action;
  io.stderr.write(`${printable(cursor.path)} starts with /${context}. The agent will start without it.\n`);
  if (!(await confirm(io, `\nStart ${printable(cursor.path)} without /${context}?`)))
    return printDeclined(io, values);
  return await perform(io, values, { type: 'proceed', at }, { runtime, who: person(io), run: found.run });
}
