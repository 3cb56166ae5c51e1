import { join, relative } from 'node:path';
import { StepfastError } from '../../errors.ts';
import { ago, count, printable } from '../../messages/index.ts';
import {
  createTransfer,
  type Found,
  type Incoming,
  isMeant,
  type LocalRuntime,
  type Refused,
  type Remote,
  renewMarks,
  type Transfer,
} from '../../runtime/index.ts';
import { readArgs } from '../args.ts';
import { personOnly } from '../caller.ts';
import { typed } from '../confirm.ts';
import { declined } from '../decide/verdict.ts';
import { exit, notFound, usageError } from '../exit.ts';
import type { Io } from '../io.ts';
import { renderLine } from '../paint.ts';
import { printJson, printRefusal } from '../perform.ts';
import { suffixOf } from '../run-name.ts';
import { openRuntime, runOptions } from '../run-options.ts';
import { standsAt, statusLook } from '../view/run-view.ts';
import { signsFor } from '../view/symbols.ts';
import { addressed, diverged, forkJson, showFork, sideJson } from './fork-picture.ts';
import { sayNotes, travelNotes } from './left-behind.ts';

export const options = {
  ...runOptions,
  remote: { type: 'string' },
  all: { type: 'boolean' },
  keep: { type: 'string' },
} as const;

type Did = 'created' | 'continued' | 'nothing' | 'exchanged' | 'kept';

/** What became of one run. */
type Outcome = { run: string } & (
  | { did: Did; found: Found; aside?: string }
  | { did: 'refused'; refused: Refused; found?: Found }
);

interface Place {
  runtime: LocalRuntime;
  transfer: Transfer;
  remote: Remote;
  io: Io;
}

export async function run(args: readonly string[], io: Io): Promise<number> {
  const { values, positionals } = readArgs(args, options, { max: 1 });
  const named = positionals[0] ?? values.run;
  const { keep } = values;
  if (positionals.length > 0 && values.run !== undefined) throw usageError('Name the run once.');
  if (named !== undefined && values.all) throw usageError('Name a run or say --all, not both.');
  if (keep !== undefined && keep !== 'theirs' && keep !== 'mine')
    throw usageError(`--keep takes 'theirs' or 'mine', not '${keep}'.`);
  if (keep !== undefined && named === undefined) throw usageError('--keep is about one run: name it.');
  const command = `stepfast pull ${named} --keep ${keep}`;
  const refused = keep && personOnly(io, 'the choice between two histories', command);
  if (refused) return printRefusal(refused, io, values);
  const runtime = openRuntime(io, values);
  const { project, engine } = runtime;
  const transfer = createTransfer({ project, ids: engine.ids, env: io.env, home: io.home });
  const remote = await transfer.remote(values.remote ?? 'origin');
  const place = { runtime, transfer, remote, io };
  const { ids, odd } = await remote.runs();
  if (odd.length > 0 && !values.json)
    sayNotes(
      [
        `${count(odd.length, 'reference')} on '${remote.name}' with a name that no run has: ${odd.slice(0, 3).join(', ')}`,
      ],
      io,
    );
  const all = await transfer.look(named === undefined ? ids : [theOne(named, ids, remote)], remote);
  const meant =
    named !== undefined ? all : all.filter((each) => isMeant(each) || (values.all && each.is !== 'bad'));
  const outcomes: Outcome[] = [];
  for (const incoming of meant) {
    const outcome = await take(incoming, keep, place);
    if (outcome === 'declined') return declined(io, values);
    outcomes.push(outcome);
  }
  await renewMarks(engine, project.directory);
  return report(
    outcomes,
    {
      left: all.filter((each) => each.is !== 'bad' && !meant.includes(each)).length,
      single: named !== undefined,
    },
    place,
    values,
  );
}

function theOne(named: string, ids: readonly string[], { name }: Remote): string {
  const [only, second] = ids.filter((id) => id === named || id.endsWith(`-${named}`));
  if (second !== undefined) throw usageError(`'${named}' could be ${only} or ${second}: name it in full.`);
  if (only !== undefined) return only;
  const there = ids.length === 0 ? 'It has none' : `It has ${ids.slice(-5).join(', ')}`;
  throw notFound(
    `The remote '${name}' has no run '${printable(named)}'. ${there}. To send one: stepfast push`,
  );
}

async function take(
  incoming: Incoming,
  keep: 'theirs' | 'mine' | undefined,
  { transfer, remote, io, runtime }: Place,
): Promise<Outcome | 'declined'> {
  const { run: id } = incoming;
  if (incoming.is === 'bad') return failed(id, incoming.error);
  try {
    switch (incoming.is) {
      case 'new':
      case 'behind':
        await transfer.take(incoming);
        return { run: id, did: incoming.is === 'new' ? 'created' : 'continued', found: incoming };
      case 'equal':
      case 'ahead':
        return { run: id, did: 'nothing', found: incoming };
    }
    if (keep === undefined && incoming.chosen) return { run: id, did: 'kept', found: incoming };
    if (keep === undefined)
      return { run: id, did: 'refused', refused: diverged(id, remote.name), found: incoming };
    if (incoming.fork) showFork(id, incoming.fork, remote.name, io);
    const purpose =
      keep === 'theirs' ? 'set the history here aside and go on with theirs' : 'go on with the history here';
    if (!(await typed(io, keep, purpose))) return 'declined';
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
  if (code === 'bad_history') return 'nothing here was changed; push it again from where it is whole';
  if (code === 'busy' || code === 'store_failed') return `stepfast pull ${suffixOf(id)}`;
  if (code === 'other_project') return 'change to its folder first';
  if (code === 'run_exists') return 'remove the other one first: stepfast clean <run>';
  return code.startsWith('store_') ? `stepfast repair ${id}` : 'mend that, then pull again';
}

function report(
  outcomes: readonly Outcome[],
  { left, single }: { left: number; single: boolean },
  place: Place,
  values: { json?: boolean | undefined },
): number {
  const { io, remote } = place;
  const code = outcomes.some(({ did }) => did === 'refused') ? exit.no : exit.ok;
  if (values.json) {
    const documents = outcomes.map((outcome) => outcomeJson(outcome, place));
    const [only] = documents;
    return printJson(io, single && only ? only : { runs: documents, ended: left }, code);
  }
  for (const outcome of outcomes) show(outcome, place);
  if (outcomes.length === 0)
    io.stderr.write(`'${remote.name}' (${remote.url}) has no run that goes on. To send one: stepfast push\n`);
  if (left > 0)
    io.stderr.write(
      `${count(left, 'run')} there that ${left === 1 ? 'has' : 'have'} ended: stepfast pull --all\n`,
    );
  return code;
}

function show(outcome: Outcome, place: Place): void {
  const { io, remote, runtime } = place;
  const { run: id, found } = outcome;
  if (outcome.did === 'refused') {
    if (found?.fork) showFork(id, found.fork, remote.name, io);
    printRefusal(outcome.refused, io, {});
    return;
  }
  const { theirs, last, there, here } = outcome.found;
  // What the run is now: where nothing came, ours may be further on.
  const came = outcome.did !== 'nothing' && outcome.did !== 'kept';
  const words: Record<Did, string> = {
    created: `${count(theirs.lines.length, 'batch', 'batches')} from ${remote.name}`,
    continued: `${count(there, 'further batch', 'further batches')} from ${remote.name}`,
    exchanged: `now the history of ${remote.name}`,
    kept: 'stays as it is here: you chose yours',
    nothing:
      here === 0 ? 'up to date' : `nothing new; stepfast push sends ${count(here, 'batch', 'batches')}`,
  };
  const status: [ReturnType<typeof statusLook>, string][] = came
    ? [[statusLook(theirs.state.status), `  ${theirs.state.status}`]]
    : [];
  const line = (...spans: Parameters<typeof renderLine>[0]): void =>
    io.stdout.write(`${renderLine(spans, io.stdout, signsFor(io).more)}\n`);
  line(['green', signsFor(io).done], ' ', ['bold', id], ...status, `  ${words[outcome.did]}`);
  if (outcome.did === 'kept') {
    line(
      '  Send it: ',
      ['cyan', `stepfast push ${addressed(id, remote.name)}`],
      '  What is there stays in the commit before.',
    );
    return;
  }
  if (!came) return;
  line(`  stands at ${standsAt(theirs.state)}, ${ago(last.now, io.now())} by ${last.who} on ${last.machine}`);
  // Never cut: it is to be found again.
  if (outcome.aside !== undefined)
    io.stdout.write(`  The history that was here: ${printable(outcome.aside)}\n`);
  line('  Go on: ', ['cyan', `stepfast resume ${suffixOf(id)}`]);
  sayNotes(
    [
      ...(runtime.trust.has(theirs.pinned.definition)
        ? []
        : [`its commands run here only after: stepfast trust ${suffixOf(id)}`]),
      ...travelNotes(theirs.pinned.definition, theirs.state, io.now()),
    ],
    io,
  );
}

function outcomeJson(outcome: Outcome, { remote, runtime, io }: Place): object {
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
    notes: travelNotes(theirs.pinned.definition, theirs.state, io.now()),
  };
}
