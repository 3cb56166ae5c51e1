import { count } from '../../messages/index.ts';
import { readArgs } from '../args.ts';
import { exit } from '../exit.ts';
import type { Io } from '../io.ts';
import { printJson } from '../perform.ts';
import { openRuntime, placeOptions } from '../run-options.ts';
import { isLive, runJson, runTable } from './run-table.ts';

export const options = { ...placeOptions, all: { type: 'boolean', short: 'a' } } as const;

export async function run(args: readonly string[], io: Io): Promise<number> {
  const { values } = readArgs(args, options, { max: 0 });
  const { engine, server } = openRuntime(io, values);
  const near = await engine.runs({ ended: values.all ?? false });
  const known = new Set(near.map(({ run: id }) => id));
  // Of a server everybody's: only where all are asked for.
  const far = values.all && server ? (await server.runs()).filter(({ run: id }) => !known.has(id)) : [];
  const all = [...near, ...far];
  // A run that cannot be read is never hidden.
  const shown = values.all ? all : all.filter((each) => each.problem !== undefined || isLive(each));
  if (values.json) return printJson(io, { runs: shown.map(runJson) }, exit.ok);
  const hidden = all.length - shown.length;
  if (shown.length > 0) io.stdout.write(runTable(shown, io));
  else io.stderr.write(`${nothing(hidden, values.all ? undefined : server?.url)}\n`);
  if (shown.length > 0 && hidden > 0)
    io.stderr.write(`${count(hidden, 'run')} ended before: stepfast runs --all\n`);
  return exit.ok;
}

const nothing = (hidden: number, server: string | undefined): string =>
  hidden > 0
    ? `No run is live, ${count(hidden, 'run')} ended: stepfast runs --all`
    : server !== undefined
      ? `Nobody here works on a run. Everybody's on ${server}: stepfast runs --all`
      : 'There is no run yet. Start one: stepfast go "what to do"';
