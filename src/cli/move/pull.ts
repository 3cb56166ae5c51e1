import { join, relative } from 'node:path';
import { commandName } from '../../command-name.ts';
import { StepfastError } from '../../errors.ts';
import type { RefusalText } from '../../messages/index.ts';
import { ago, count, printable } from '../../messages/index.ts';
import {
  createTransfer,
  type Incoming,
  type IncomingHistory,
  isPulledByDefault,
  type LocalRuntime,
  positionText,
  type Remote,
  renewMarks,
  type Transfer,
} from '../../runtime/index.ts';
import { readArgs } from '../args.ts';
import { personOnly } from '../caller.ts';
import { confirm, printDeclined } from '../confirm.ts';
import { exit, notFound, usageError } from '../exit.ts';
import type { Io } from '../io.ts';
import { renderLine } from '../paint.ts';
import { printJson, printRefusal } from '../perform.ts';
import { runNamed, suffixOf } from '../run-name.ts';
import { openRuntime, runOptions } from '../run-options.ts';
import { statusColor } from '../view/run-view.ts';
import { symbolsFor } from '../view/symbols.ts';
import { diverged, forkJson, runArguments, showFork, sideJson } from './show-fork.ts';
import { printNotes, transferNotes } from './transfer-notes.ts';

export const options = {
  ...runOptions,
  remote: { type: 'string' },
  all: { type: 'boolean' },
  keep: { type: 'string' },
} as const;

type Did = 'created' | 'continued' | 'nothing' | 'exchanged' | 'kept';

type Outcome = { run: string } & (
  | { did: Did; found: IncomingHistory; aside?: string }
  | { did: 'refused'; refused: RefusalText; found?: IncomingHistory }
);

interface PullContext {
  runtime: LocalRuntime;
  transfer: Transfer;
  remote: Remote;
  io: Io;
}

export async function run(args: readonly string[], io: Io): Promise<number> {
  const { values, positionals } = readArgs(args, options, { max: 1 });
  const named = runNamed(positionals, values);
  const { keep } = values;
  if (named !== undefined && values.all) throw usageError('Give a run or --all, not both.');
  if (keep !== undefined && keep !== 'theirs' && keep !== 'mine')
    throw usageError(`--keep must be 'theirs' or 'mine', not '${keep}'.`);
  if (keep !== undefined && named === undefined) throw usageError('--keep needs a run.');
  const command = `${commandName()} pull ${named} --keep ${keep}`;
  const refused = keep && personOnly(io, 'choose between two histories', command);
  if (refused) return printRefusal(refused, io, values);
  const runtime = openRuntime(io, values);
  const { project, engine } = runtime;
  const transfer = createTransfer({ project, ids: engine.ids, env: io.env, home: io.home });
  const remote = await transfer.remote(values.remote ?? 'origin');
  const context = { runtime, transfer, remote, io };
  const { ids, odd } = await remote.runs();
  if (odd.length > 0 && !values.json)
    printNotes(
      [
        `ignored ${count(odd.length, 'ref')} on '${remote.name}' with an invalid run name: ${odd.slice(0, 3).join(', ')}`,
      ],
      io,
    );
  const all = await transfer.inspect(named === undefined ? ids : [findRun(named, ids, remote)], remote);
  const selected =
    named !== undefined
      ? all
      : all.filter((each) => isPulledByDefault(each) || (values.all && each.is !== 'bad'));
  const outcomes: Outcome[] = [];
  for (const incoming of selected) {
    const outcome = await take(incoming, keep, context);
    if (outcome === 'declined') return printDeclined(io, values);
    outcomes.push(outcome);
  }
  await renewMarks(engine, project.directory);
  return report(
    outcomes,
    {
      left: all.filter((each) => each.is !== 'bad' && !selected.includes(each)).length,
      single: named !== undefined,
    },
    context,
    values,
  );
}

function findRun(named: string, ids: readonly string[], { name }: Remote): string {
  const [only, second] = ids.filter((id) => id === named || id.endsWith(`-${named}`));
  if (second !== undefined)
    throw usageError(`'${named}' is ambiguous: ${only} or ${second}. Use the full id.`);
  if (only !== undefined) return only;
  const there = ids.length === 0 ? 'It has no runs' : `It has ${ids.slice(-5).join(', ')}`;
  throw notFound(
    `The remote '${name}' has no run '${printable(named)}'. ${there}. To push one: ${commandName()} push`,
  );
}

async function take(
  incoming: Incoming,
  keep: 'theirs' | 'mine' | undefined,
  { transfer, remote, io, runtime }: PullContext,
): Promise<Outcome | 'declined'> {
  const { run: id } = incoming;
  if (incoming.is === 'bad') return failed(id, incoming.error);
  try {
    switch (incoming.is) {
      case 'new':
      case 'behind':
        await transfer.receive(incoming);
        return { run: id, did: incoming.is === 'new' ? 'created' : 'continued', found: incoming };
      case 'equal':
      case 'ahead':
        return { run: id, did: 'nothing', found: incoming };
    }
    if (keep === undefined && incoming.chosen) return { run: id, did: 'kept', found: incoming };
    if (keep === undefined)
      return { run: id, did: 'refused', refused: diverged(id, remote.name), found: incoming };
    if (incoming.fork) showFork(id, incoming.fork, remote.name, io);
    const question =
      keep === 'theirs' ? 'Set the local history aside and use theirs?' : 'Keep the local history?';
    if (!(await confirm(io, `\n${question}`))) return 'declined';
    if (keep === 'mine') {
      await transfer.keepMine(incoming);
      return { run: id, did: 'kept', found: incoming };
    }
    const file = await transfer.keepTheirs(incoming);
    const { directory, worktree } = runtime.project;
    return {
      run: id,
      did: 'exchanged',
      found: incoming,
      aside: relative(worktree, join(directory, 'runs', id, file)),
    };
  } catch (error) {
    if (error instanceof StepfastError) return failed(id, error);
    throw error;
  }
}

const failed = (id: string, { code, message }: StepfastError): Outcome => ({
  run: id,
  did: 'refused',
  refused: { code, message, next: nextFor(code, id) },
});

function nextFor(code: string, id: string): string {
  if (code === 'bad_history') return 'nothing was changed; push it again from a machine with an intact copy';
  if (code === 'busy' || code === 'store_failed') return `${commandName()} pull ${suffixOf(id)}`;
  if (code === 'other_project') return 'change to the directory of that project first';
  if (code === 'run_exists') return `remove the existing run first: ${commandName()} clean <run>`;
  return code.startsWith('store_') ? `${commandName()} repair ${id}` : 'fix the problem, then pull again';
}

function report(
  outcomes: readonly Outcome[],
  { left, single }: { left: number; single: boolean },
  context: PullContext,
  values: { json?: boolean | undefined },
): number {
  const { io, remote } = context;
  const code = outcomes.some(({ did }) => did === 'refused') ? exit.no : exit.ok;
  if (values.json) {
    const documents = outcomes.map((outcome) => outcomeJson(outcome, context));
    const [only] = documents;
    return printJson(io, single && only ? only : { runs: documents, ended: left }, code);
  }
  for (const outcome of outcomes) show(outcome, context);
  if (outcomes.length === 0)
    io.stderr.write(
      `'${remote.name}' (${remote.url}) has no live runs. To push one: ${commandName()} push\n`,
    );
  if (left > 0)
    io.stderr.write(`Skipped ${count(left, 'ended run')}. To pull them: ${commandName()} pull --all\n`);
  return code;
}

function show(outcome: Outcome, context: PullContext): void {
  const { io, remote, runtime } = context;
  const { run: id, found } = outcome;
  if (outcome.did === 'refused') {
    if (found?.fork) showFork(id, found.fork, remote.name, io);
    printRefusal(outcome.refused, io, {});
    return;
  }
  const { theirs, last, there, here } = outcome.found;
  // The remote's state is current only if something was pulled; otherwise ours may be ahead.
  const pulled = outcome.did !== 'nothing' && outcome.did !== 'kept';
  const words: Record<Did, string> = {
    created: `${count(theirs.lines.length, 'batch', 'batches')} from ${remote.name}`,
    continued: `${count(there, 'more batch', 'more batches')} from ${remote.name}`,
    exchanged: `replaced by the history of ${remote.name}`,
    kept: 'kept the local history',
    nothing: here === 0 ? 'up to date' : `nothing to pull; ${count(here, 'batch', 'batches')} to push`,
  };
  const status: [ReturnType<typeof statusColor>, string][] = pulled
    ? [[statusColor(theirs.state.status), `  ${theirs.state.status}`]]
    : [];
  const line = (...spans: Parameters<typeof renderLine>[0]): void =>
    io.stdout.write(`${renderLine(spans, io.stdout, symbolsFor(io).more)}\n`);
  line(['green', symbolsFor(io).done], ' ', ['bold', id], ...status, `  ${words[outcome.did]}`);
  if (outcome.did === 'kept') {
    line(
      '  Push it: ',
      ['cyan', `${commandName()} push ${runArguments(id, remote.name)}`],
      '  The remote history stays in the parent commit.',
    );
    return;
  }
  if (!pulled) return;
  line(`  at ${positionText(theirs.state)}, ${ago(last.now, io.now())} by ${last.author} on ${last.machine}`);
  // Not truncated: the person needs the full path.
  if (outcome.aside !== undefined) io.stdout.write(`  Previous local history: ${printable(outcome.aside)}\n`);
  line('  Continue: ', ['cyan', `${commandName()} resume ${suffixOf(id)}`]);
  printNotes(
    [
      ...(runtime.trust.has(theirs.pinned.definition)
        ? []
        : [`its commands are not trusted yet: ${commandName()} trust ${suffixOf(id)}`]),
      ...transferNotes(theirs.pinned.definition, theirs.state, io.now()),
    ],
    io,
  );
}

function outcomeJson(outcome: Outcome, { remote, runtime, io }: PullContext): object {
  const { run: id, did, found } = outcome;
  const base = { run: id, remote: remote.name, url: remote.url, did };
  if (did === 'refused') return { ...base, ...outcome.refused, ...(found?.fork ? forkJson(found.fork) : {}) };
  const { theirs, here, there, last } = outcome.found;
  return {
    ...base,
    batches: there,
    ahead: here,
    ...(outcome.aside === undefined ? {} : { aside: outcome.aside }),
    there: sideJson(last),
    trusted: runtime.trust.has(theirs.pinned.definition),
    notes: transferNotes(theirs.pinned.definition, theirs.state, io.now()),
  };
}
