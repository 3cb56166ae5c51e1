import { commandName } from '../../command-name.ts';
import { parseHandle } from '../../machine/index.ts';
import { printable } from '../../messages/index.ts';
import { nearest } from '../../suggest.ts';
import { readArgs } from '../args.ts';
import { person, personOnly } from '../caller.ts';
import { confirm, printDeclined } from '../confirm.ts';
import type { Io } from '../io.ts';
import { perform, printRefusal } from '../perform.ts';
import { withTarget } from '../run-name.ts';
import { openRuntime, runOptions } from '../run-options.ts';

export const options = runOptions;

export async function run(args: readonly string[], io: Io): Promise<number> {
  const { values, positionals } = readArgs(args, options, { min: 1, max: 1, what: 'step' });
  const [to = ''] = positionals;
  const refused = personOnly(io, 'rewind a run', withTarget(`${commandName()} rewind ${to}`, values));
  if (refused) return printRefusal(refused, io, values);
  const runtime = openRuntime(io, values);
  const found = await runtime.chooseRun({ run: values.run });
  if ('code' in found) return printRefusal(found, io, values);
  const view = await runtime.engine.view(found.run);
  const steps = view?.definition.steps.map(({ id }) => id) ?? [];
  const index = steps.indexOf(to);
  if (!view || index === -1) {
    const meant = nearest(to, steps);
    const next = meant === undefined ? `Use one of: ${steps.join(', ')}.` : `Did you mean '${meant}'?`;
    return printRefusal({ code: 'unknown_step', message: `There is no step '${to}'.`, next }, io, values);
  }
  const later = new Set(steps.slice(index));
  const lost = Object.values(view.state.outputs)
    .map(({ at }) => parseHandle(at)?.path ?? at)
    .filter((path) => later.has(path.split('/', 1)[0] ?? ''));
  const what =
    lost.length === 0 ? 'No completed work is discarded.' : `No longer counts: ${printable(lost.join(', '))}`;
  io.stderr.write(`${found.run} goes back to '${printable(to)}'.\n${what}\n`);
  if (!(await confirm(io, `\nGo back to '${printable(to)}'?`))) return printDeclined(io, values);
  return await perform(io, values, { type: 'rewind', to }, { runtime, who: person(io), run: found.run });
}
