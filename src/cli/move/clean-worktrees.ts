import { ended } from '../../machine/index.ts';
import { count, printable } from '../../messages/index.ts';
import type { LocalRuntime } from '../../runtime/index.ts';
import { listWorktrees, removeEmptyWorktrees, type WorktreeInfo } from '../../workspace/index.ts';
import { isPerson } from '../caller.ts';
import { confirm, printDeclined } from '../confirm.ts';
import { exit, usageError } from '../exit.ts';
import type { Io } from '../io.ts';
import { paint } from '../paint.ts';
import { printJson, printRefusal } from '../perform.ts';

interface CleanOptions {
  positionals: readonly string[];
  json?: boolean | undefined;
  yes?: boolean | undefined;
  'dry-run'?: boolean | undefined;
}

const held = {
  nothing: 'empty',
  commits: 'commits that are in no other branch',
  changes: 'uncommitted changes',
  both: 'uncommitted changes, and commits that are in no other branch',
} as const;

/** Removes the worktrees of ended runs that hold nothing, and lists the others. */
export async function cleanWorktrees(
  { engine, project }: LocalRuntime,
  io: Io,
  values: CleanOptions,
): Promise<number> {
  if (values.positionals.length > 0) throw usageError('--worktrees takes no run.');
  // One that cannot be read may be live.
  const live = new Set((await engine.runs()).flatMap(({ run, state }) => (state && ended(state) ? [] : run)));
  const all = (await listWorktrees(project)).map((each) => ({
    ...each,
    ...(live.has(each.run) ? { live: true } : {}),
  }));
  const isEmpty = ({ run, holds, locked }: WorktreeInfo): boolean =>
    holds === 'nothing' && !locked && !live.has(run);
  const empty = all.filter(isEmpty);
  const kept = all.filter((each) => !isEmpty(each));
  if (values['dry-run'] && values.json) return printJson(io, { would_remove: empty, kept }, exit.ok);
  if (!values.json) print(all, io);
  if (values['dry-run'] || empty.length === 0) {
    if (values.json) return printJson(io, { removed: [], kept }, exit.ok);
    const verb = values['dry-run'] ? 'would be removed' : 'can be removed';
    io.stderr.write(`${count(empty.length, 'worktree')} ${verb}.\n`);
    return exit.ok;
  }
  if (!values.yes && !isPerson(io)) {
    const message = `${count(empty.length, 'worktree')} would be removed`;
    const next = 'confirm with --yes, or preview with --dry-run';
    return printRefusal({ code: 'not_confirmed', message, next }, io, values);
  }
  if (!values.yes && !(await confirm(io, `Remove ${count(empty.length, 'worktree')}?`)))
    return printDeclined(io, values);
  const removed = await removeEmptyWorktrees(project, (run) => live.has(run));
  if (values.json) return printJson(io, { removed, kept }, exit.ok);
  io.stderr.write(`${count(removed.length, 'worktree')} removed.\n`);
  return exit.ok;
}

function print(all: readonly (WorktreeInfo & { live?: boolean })[], io: Io): void {
  for (const { run, task, kind, path, holds, merged, live, locked } of all) {
    const name = `${run} ${task === undefined ? kind : `task ${task}`}`;
    const why = [
      held[holds],
      ...(merged === undefined ? [] : [`merged into ${merged}`]),
      ...(live ? ['its run is live'] : []),
      ...(locked ? ['locked'] : []),
    ].join(', ');
    io.stdout.write(
      `${printable(name)}: ${paint(io.stdout, holds === 'nothing' ? 'dim' : 'yellow', printable(why))}\n  ${printable(path)}\n`,
    );
  }
}
