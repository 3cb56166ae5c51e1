import { commandName } from '../../command-name.ts';
import { count } from '../../messages/index.ts';
import { readArgs } from '../args.ts';
import { exit } from '../exit.ts';
import type { Io } from '../io.ts';
import { printJson } from '../perform.ts';
import { openRuntime, projectOptions } from '../run-options.ts';
import { isLive, runJson, runTable } from './run-table.ts';

export const options = { ...projectOptions, all: { type: 'boolean', short: 'a' } } as const;

export async function run(args: readonly string[], io: Io): Promise<number> {
  const { values } = readArgs(args, options, { max: 0 });
  const { engine, server } = openRuntime(io, values);
  const mine = await engine.runs({ ended: values.all ?? false });
  const known = new Set(mine.map(({ run: id }) => id));
  // Other people's runs on the server are listed only with --all.
  const others = values.all && server ? (await server.list()).filter(({ run: id }) => !known.has(id)) : [];
  const all = [...mine, ...others];
  // An unreadable run is always listed.
  const shown = values.all ? all : all.filter((each) => each.problem !== undefined || isLive(each));
  if (values.json) return printJson(io, { runs: shown.map(runJson) }, exit.ok);
  const hidden = all.length - shown.length;
  if (shown.length > 0) io.stdout.write(runTable(shown, io));
  else io.stderr.write(`${emptyMessage(hidden, values.all ? undefined : server?.url)}\n`);
  if (shown.length > 0 && hidden > 0)
    io.stderr.write(`${count(hidden, 'ended run')} not shown: ${commandName()} runs --all\n`);
  return exit.ok;
}

const emptyMessage = (hidden: number, server: string | undefined): string =>
  hidden > 0
    ? `No live runs, ${count(hidden, 'ended run')}: ${commandName()} runs --all`
    : server !== undefined
      ? `No live runs in this checkout. All runs on ${server}: ${commandName()} runs --all`
      : `No runs yet. Start one: ${commandName()} go "what to do"`;
