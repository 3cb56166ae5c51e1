import { commandName } from '../../command-name.ts';
import { grantsOf } from '../../definition/index.ts';
import { grantText, printable } from '../../messages/index.ts';
import { readArgs } from '../args.ts';
import { personOnly } from '../caller.ts';
import { confirm, printDeclined } from '../confirm.ts';
import { exit, usageError } from '../exit.ts';
import type { Io } from '../io.ts';
import { paint } from '../paint.ts';
import { printJson, printRefusal } from '../perform.ts';
import { shown } from '../project.ts';
import { openRuntime, projectOptions } from '../run-options.ts';

export const options = projectOptions;

/** Publishes a workflow of this checkout on the server of the project. */
export async function run(args: readonly string[], io: Io): Promise<number> {
  const { values, positionals } = readArgs(args, options, { min: 1, max: 1, what: 'a workflow' });
  const [name = ''] = positionals;
  const refused = personOnly(io, 'publish a workflow', `${commandName()} publish ${name}`);
  if (refused) return printRefusal(refused, io, values);
  const runtime = openRuntime(io, values);
  if (!runtime.server)
    throw usageError(`This project is on no server. Log in first: ${commandName()} login <url>`);
  const { definition, hash, file } = runtime.resolve(name);
  const { url } = runtime.server;
  io.stderr.write(
    `'${printable(definition.name)}' (${shown(file, io)}) can be started by every agent of the project on ${printable(url)}. It may:\n\n`,
  );
  const grants = grantsOf(definition).map(grantText);
  for (const text of grants.length === 0 ? ['run no commands'] : grants)
    io.stderr.write(`  ${paint(io.stderr, 'bold', printable(text))}\n`);
  io.stderr.write(`\n${paint(io.stderr, 'dim', hash)}\n`);
  if (!(await confirm(io, `\nPublish '${printable(definition.name)}'?`))) return printDeclined(io, values);
  const published = await runtime.server.publish(definition);
  if (values.json) return printJson(io, published, exit.ok);
  io.stdout.write(
    `Published '${printable(definition.name)}'. If its commands, the defaults of its inputs or what its agents may do change, publish it again.\n`,
  );
  return exit.ok;
}
