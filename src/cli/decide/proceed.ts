import { isFenced } from '../../machine/index.ts';
import { printable } from '../../messages/index.ts';
import { readArgs } from '../args.ts';
import { person, personOnly } from '../caller.ts';
import { typed } from '../confirm.ts';
import type { Io } from '../io.ts';
import { perform, printRefusal } from '../perform.ts';
import { sameOne, suffixOf } from '../run-name.ts';
import { openRuntime, positionOptions } from '../run-options.ts';
import { handleOf } from './show-review.ts';
import { declined } from './verdict.ts';

export const options = positionOptions;

export async function run(args: readonly string[], io: Io): Promise<number> {
  const { values } = readArgs(args, options, { max: 0 });
  const refused = personOnly(io, 'letting a context action pass', sameOne('stepfast proceed', values));
  if (refused) return printRefusal(refused, io, values);
  const runtime = openRuntime(io, values);
  const found = await runtime.chooseRun(values);
  if ('code' in found) return printRefusal(found, io, values);
  const state = (await runtime.engine.view(found.run))?.state;
  const open = Object.values(state?.cursors ?? {}).filter(
    // Nobody's session: what one context took over is closed to all others.
    ({ boundary }) => boundary && (boundary.state !== 'released' || isFenced(boundary, '')),
  );
  const cursor = open.find(
    (each) => state && (values.at === undefined || handleOf(state, each) === values.at),
  );
  if (!state || !cursor) {
    const message = `no position of ${found.run} waits for a context action`;
    return printRefusal(
      { code: 'no_boundary', message, next: `see: stepfast status ${suffixOf(found.run)}` },
      io,
      values,
    );
  }
  const at = handleOf(state, cursor);
  io.stderr.write(
    `${printable(`${at} opens with /${cursor.boundary?.action}`)}. The agent would begin it without one.\n`,
  );
  if (!(await typed(io, cursor.path, 'let it pass'))) return declined(io, values);
  return await perform(io, values, { type: 'proceed', at }, { runtime, who: person(io), run: found.run });
}
