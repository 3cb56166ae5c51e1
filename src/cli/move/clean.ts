import { commandName } from '../../command-name.ts';
import { ended } from '../../machine/index.ts';
import type { RefusalText } from '../../messages/index.ts';
import { count, duration } from '../../messages/index.ts';
import type { LocalRuntime, Refused } from '../../runtime/index.ts';
import { readArgs } from '../args.ts';
import { isPerson } from '../caller.ts';
import { confirm, printDeclined } from '../confirm.ts';
import { exit, usageError } from '../exit.ts';
import type { Io } from '../io.ts';
import { isLive, runTable } from '../look/run-table.ts';
import { printJson, printRefusal } from '../perform.ts';
import { openRuntime, projectOptions } from '../run-options.ts';
import { cleanWorktrees } from './clean-worktrees.ts';
import { isLocal } from './on-server.ts';
import { printTaskTrees, taskTrees } from './task-branches.ts';

export const options = {
  ...projectOptions,
  'older-than': { type: 'string' },
  all: { type: 'boolean' },
  worktrees: { type: 'boolean' },
  'dry-run': { type: 'boolean' },
  yes: { type: 'boolean', short: 'y' },
} as const;

export async function run(args: readonly string[], io: Io): Promise<number> {
  const { values, positionals } = readArgs(args, options, { max: 1 });
  const age = values['older-than'] ?? '30d';
  const ms = values.all ? 0 : duration(age);
  if (ms === undefined)
    throw usageError(`--older-than takes a duration such as 30d, 12h or 2w, not '${age}'.`);
  const runtime = openRuntime(io, values);
  if (values.worktrees) return await cleanWorktrees(runtime, io, { ...values, positionals });
  const { engine } = runtime;
  const [named] = positionals;
  const old =
    named === undefined
      ? (await engine.runs()).filter(({ run: id }) => isLocal(runtime, id)).filter(isOld(io.now() - ms))
      : await namedRun(named, runtime);
  if ('code' in old) return printRefusal(old, io, { ...values, run: named });
  const names = old.map(({ run: name }) => name);
  if (names.length === 0) {
    if (values.json)
      return printJson(io, values['dry-run'] ? { would_remove: [] } : { removed: [] }, exit.ok);
    const which = values.all ? 'has ended' : `ended more than ${age} ago`;
    io.stderr.write(`No run ${which}. Nothing to remove.\n`);
    return exit.ok;
  }
  if (values['dry-run'] && values.json) return printJson(io, { would_remove: names }, exit.ok);
  if (!values.json) io.stdout.write(runTable(old, io));
  if (values['dry-run']) {
    io.stderr.write(`${count(names.length, 'run')} would be removed.\n`);
    printTaskTrees(await taskTrees(runtime.project, names), io);
    return exit.ok;
  }
  if (!values.yes && !isPerson(io)) {
    const message = `${count(names.length, 'run')} would be permanently removed`;
    return printRefusal(
      { code: 'not_confirmed', message, next: 'confirm with --yes, or preview with --dry-run' },
      io,
      values,
    );
  }
  if (!values.yes && !(await confirm(io, `Permanently remove ${count(names.length, 'run')}?`)))
    return printDeclined(io, values);
  for (const name of names) await engine.remove(name);
  const left = await taskTrees(runtime.project, names);
  if (values.json)
    return printJson(io, { removed: names, ...(left.length > 0 ? { left_behind: left } : {}) }, exit.ok);
  io.stderr.write(`${count(names.length, 'run')} removed.\n`);
  printTaskTrees(left, io);
  return exit.ok;
}

type RunInfo = Awaited<ReturnType<LocalRuntime['engine']['runs']>>[number];

const isOld =
  (before: number) =>
  ({ state }: RunInfo): boolean =>
    state !== undefined && ended(state) && state.updatedAt <= before;

/** The named run, even if it is no longer readable. */
async function namedRun(
  name: string,
  { chooseRun, engine, serverOf }: LocalRuntime,
): Promise<RunInfo[] | RefusalText | Refused> {
  const found = await chooseRun({ run: name });
  if ('code' in found) return found;
  const { state } = (serverOf(found.run) && (await engine.view(found.run))) || {};
  const infos = state
    ? [{ run: found.run, state }]
    : (await engine.runs()).filter(({ run: id }) => id === found.run);
  if (!infos.some(isLive)) return infos;
  const next = `cancel it first: ${commandName()} cancel --run ${found.run}`;
  return { code: 'run_live', message: `${found.run} is still live`, next };
}
