import { commandName } from '../../command-name.ts';
import { grantsOf } from '../../definition/index.ts';
import { grantText, printable } from '../../messages/index.ts';
import type { Grant } from '../../schema/index.ts';
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
  const { values, positionals } = readArgs(args, options, { min: 1, max: 1, what: 'workflow' });
  const [name = ''] = positionals;
  const refused = personOnly(io, 'publish a workflow', `${commandName()} publish ${name}`);
  if (refused) return printRefusal(refused, io, values);
  const runtime = openRuntime(io, values);
  if (!runtime.server)
    throw usageError(`This project is not logged in to a server. Log in first: ${commandName()} login <url>`);
  const { definition, hash, file } = runtime.resolve(name);
  const { url } = runtime.server;
  const grants = grantsOf(definition);
  const commands = grants.filter(isCommand);
  const settings = grants.filter((grant) => !isCommand(grant));
  const runs = commands.length === 0 ? 'It runs no commands.' : 'It runs these commands:';
  io.stderr.write(
    `Once published, every agent of the project on ${printable(url)} can start '${printable(definition.name)}' (${shown(file, io)}). ${runs}\n`,
  );
  printGrants(commands, io);
  if (settings.length > 0) io.stderr.write('\nIt also sets:\n');
  printGrants(settings, io);
  io.stderr.write(`\n${paint(io.stderr, 'dim', hash)}\n`);
  if (!(await confirm(io, `\nPublish '${printable(definition.name)}'?`))) return printDeclined(io, values);
  const published = await runtime.server.publish(definition);
  if (values.json) return printJson(io, published, exit.ok);
  io.stdout.write(
    `Published '${printable(definition.name)}'. If anything but its prose changes, publish it again.\n`,
  );
  return exit.ok;
}

const isCommand = (grant: Grant): boolean => 'run' in grant || 'setup' in grant;

function printGrants(grants: readonly Grant[], io: Io): void {
  for (const grant of grants) io.stderr.write(`  ${paint(io.stderr, 'bold', printable(grantText(grant)))}\n`);
}
