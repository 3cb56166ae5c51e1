import { ended } from '../../machine/index.ts';
import { count, duration } from '../../messages/index.ts';
import type { LocalRuntime, Refused } from '../../runtime/index.ts';
import { readArgs } from '../args.ts';
import { isPerson } from '../caller.ts';
import { agreed } from '../confirm.ts';
import { declined } from '../decide/verdict.ts';
import { exit, usageError } from '../exit.ts';
import type { Io } from '../io.ts';
import { isLive, runTable } from '../look/run-table.ts';
import { printJson, printRefusal } from '../perform.ts';
import { openRuntime, placeOptions } from '../run-options.ts';
import { isOfFiles } from './on-server.ts';
import { leftBehind, sayLeft } from './task-branches.ts';

export const options = {
  ...placeOptions,
  'older-than': { type: 'string' },
  all: { type: 'boolean' },
  'dry-run': { type: 'boolean' },
  yes: { type: 'boolean', short: 'y' },
} as const;

export async function run(args: readonly string[], io: Io): Promise<number> {
  const { values, positionals } = readArgs(args, options, { max: 1 });
  const age = values['older-than'] ?? '30d';
  const ms = values.all ? 0 : duration(age);
  if (ms === undefined) throw usageError(`--older-than takes a time such as 30d, 12h or 2w, not '${age}'.`);
  const runtime = openRuntime(io, values);
  const { engine } = runtime;
  const [named] = positionals;
  const old =
    named === undefined
      ? (await engine.runs()).filter(({ run: id }) => isOfFiles(runtime, id)).filter(isOld(io.now() - ms))
      : await only(named, runtime);
  if ('code' in old) return printRefusal(old, io, { ...values, run: named });
  const names = old.map(({ run: name }) => name);
  if (names.length === 0) {
    if (values.json)
      return printJson(io, values['dry-run'] ? { would_remove: [] } : { removed: [] }, exit.ok);
    const which = values.all ? 'has ended' : `ended more than ${age} ago`;
    io.stderr.write(`No run ${which}: there is nothing to remove.\n`);
    return exit.ok;
  }
  if (values['dry-run'] && values.json) return printJson(io, { would_remove: names }, exit.ok);
  if (!values.json) io.stdout.write(runTable(old, io));
  if (values['dry-run']) {
    io.stderr.write(`${count(names.length, 'run')} would be removed.\n`);
    sayLeft(
      names.flatMap((name) => leftBehind(runtime.project, name)),
      io,
    );
    return exit.ok;
  }
  if (!values.yes && !isPerson(io)) {
    const message = `${count(names.length, 'run')} would be removed for good`;
    return printRefusal(
      { code: 'not_confirmed', message, next: 'say it with --yes, or look first with --dry-run' },
      io,
      values,
    );
  }
  if (!values.yes && !(await agreed(io, `Remove ${count(names.length, 'run')} for good?`)))
    return declined(io, values);
  for (const name of names) await engine.remove(name);
  const left = names.flatMap((name) => leftBehind(runtime.project, name));
  if (values.json)
    return printJson(io, { removed: names, ...(left.length > 0 ? { left_behind: left } : {}) }, exit.ok);
  io.stderr.write(`${count(names.length, 'run')} removed.\n`);
  sayLeft(left, io);
  return exit.ok;
}

type RunInfo = Awaited<ReturnType<LocalRuntime['engine']['runs']>>[number];

const isOld =
  (before: number) =>
  ({ state }: RunInfo): boolean =>
    state !== undefined && ended(state) && state.updatedAt <= before;

/** The run that was named, also one that cannot be read any more. */
async function only(name: string, { which, engine, serverOf }: LocalRuntime): Promise<RunInfo[] | Refused> {
  const found = await which({ run: name });
  if ('code' in found) return found;
  const { state } = (serverOf(found.run) && (await engine.view(found.run))) || {};
  const infos = state
    ? [{ run: found.run, state }]
    : (await engine.runs()).filter(({ run: id }) => id === found.run);
  if (!infos.some(isLive)) return infos;
  const next = `end it first: stepfast cancel --run ${found.run}`;
  return { code: 'run_live', message: `${found.run} is live`, next };
}
