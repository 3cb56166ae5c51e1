import { ago, count, printable } from '../../messages/index.ts';
import type { LocalRuntime, Refused } from '../../runtime/index.ts';
import { readArgs } from '../args.ts';
import { personOnly } from '../caller.ts';
import { typed } from '../confirm.ts';
import { declined } from '../decide/verdict.ts';
import { exit, usageError } from '../exit.ts';
import type { Io } from '../io.ts';
import { wordsFor } from '../look/event-text.ts';
import { paint, renderLine, type Span } from '../paint.ts';
import { printJson, printRefusal } from '../perform.ts';
import { openRuntime, runOptions } from '../run-options.ts';
import { standsAt } from '../view/run-view.ts';
import { signsFor } from '../view/symbols.ts';
import { findingsOf, sayFinding } from './findings.ts';
import { ownBatches } from './histories.ts';
import { isOfFiles, onServer } from './on-server.ts';

export const options = { ...runOptions, keep: { type: 'string' } } as const;

/** Lines of a history that are shown. */
const mostTold = 20;

type Checked = NonNullable<Awaited<ReturnType<LocalRuntime['store']['check']>>>;

export async function run(args: readonly string[], io: Io): Promise<number> {
  const { values, positionals } = readArgs(args, options, { max: 1 });
  if (positionals.length > 0 && values.run !== undefined) throw usageError('Name the run once.');
  const named = positionals[0] ?? values.run;
  const runtime = openRuntime(io, values);
  const checks = await checksOf(runtime, named);
  if ('code' in checks) return printRefusal(checks, io, { ...values, run: named });
  const ill = checks.filter(({ problems }) => problems.length > 0);
  if (ill.length === 0) {
    if (values.json)
      return printJson(io, { runs: checks.map((check) => checkJson(check, runtime)) }, exit.ok);
    io.stdout.write(
      `${paint(io.stdout, 'green', signsFor(io).done)} ${count(checks.length, 'run')} looked at, nothing to mend.\n`,
    );
    return exit.ok;
  }
  if (!values.json) for (const check of ill) show(check, runtime, io);
  const found = ill.map((check) => checkJson(check, runtime));
  const refuse = (refused: Refused): number =>
    values.json ? printJson(io, { ...refused, found }, exit.no) : printRefusal(refused, io, {});
  const [only, second] = ill;
  if (second || !only) {
    const runs = ill.map(({ run: id }) => id);
    const message = `${ill.length} runs need a repair`;
    return refuse({ code: 'several_runs', message, next: 'one at a time: stepfast repair <run>', runs });
  }
  const hopeless = wouldRefuse(only, values.keep) ?? personFor(only.run, values.keep, io);
  if (hopeless) return refuse(hopeless);
  return await mend(only, values.keep, runtime, io, values);
}

/** Those that were named, or every run: whoever asks for a repair often knows no id. */
async function checksOf(
  runtime: LocalRuntime,
  named: string | undefined,
): Promise<Checked[] | Exclude<Awaited<ReturnType<LocalRuntime['which']>>, { run: string }>> {
  const found = named === undefined ? undefined : await runtime.which({ run: named });
  if (found && 'code' in found) return found;
  const served = found && onServer(runtime, found.run, 'repaired');
  if (served) return served;
  const ids = found ? [found.run] : (await runtime.engine.ids()).filter((id) => isOfFiles(runtime, id));
  const checks: Checked[] = [];
  for (const id of ids) {
    const check = await runtime.store.check(id);
    if (check) checks.push(check);
  }
  return checks;
}

function show(check: Checked, runtime: LocalRuntime, io: Io): void {
  const { run: id, batches, problems, harmless, branches } = check;
  const signs = signsFor(io);
  const line = (...spans: Span[]): void => io.stderr.write(`${renderLine(spans, io.stderr, signs.more)}\n`);
  line(['bold', id], `  ${count(batches, 'batch', 'batches')} whole`);
  for (const finding of findingsOf(problems))
    line('  ', ['red', signs.bad], ` ${sayFinding(finding, io.unicode ? '–' : '-')}`);
  if (harmless.length > 0)
    line('  ', ['dim', `and ${count(harmless.length, 'harmless trace')} of crashes or races`]);
  for (const branch of branches) {
    const { machine, from, to, ended, accepted } = branch;
    const read = accepted ? ', the one that is read' : '';
    line(
      '  history ',
      ['bold', branch.id],
      `  batches ${from} to ${to} by ${machine}, ${ago(ended, io.now())}${read}`,
    );
    const told = ownBatches(runtime, id, branch).flatMap(({ seq, events }) =>
      events.flatMap((event): Span[][] => {
        const words = wordsFor(event, signs);
        return words ? [[['dim', `    ${String(seq).padStart(4)}  `], ...words]] : [];
      }),
    );
    for (const words of told.slice(0, mostTold)) line(...words);
    if (told.length > mostTold) line(['dim', `          and ${told.length - mostTold} more`]);
  }
}

const checkJson = (check: Checked, runtime: LocalRuntime): object => ({
  run: check.run,
  batches: check.batches,
  findings: findingsOf(check.problems),
  harmless: findingsOf(check.harmless),
  histories: check.branches.map((branch) => ({
    ...branch,
    batches: ownBatches(runtime, check.run, branch),
  })),
});

/** What needs no question, because the answer is no. */
function wouldRefuse(
  { run: id, branches, problems }: Checked,
  keep: string | undefined,
): Refused | undefined {
  const ids = branches.map((branch) => branch.id);
  if (keep !== undefined && !ids.includes(keep)) {
    const there = ids.length === 0 ? 'it has only one' : `it has ${ids.join(' and ')}`;
    const message = `${id} has no history '${keep}': ${there}`;
    const next = ids.length === 0 ? `stepfast repair ${id}` : `stepfast repair ${id} --keep ${ids[0]}`;
    return { code: 'unknown_branch', message, next };
  }
  if (ids.length > 0 && keep === undefined) {
    const message = `${id} has ${ids.length} histories, and only a person can say which holds`;
    const commands = ids.map((each) => `stepfast repair ${id} --keep ${each}`);
    return { code: 'store_forked', message, next: `choose one: ${commands.join(' or ')}` };
  }
  if (!problems.every(({ kind }) => kind === 'text' || kind === 'newer')) return undefined;
  const newer = problems.some(({ kind }) => kind === 'newer');
  return {
    code: newer ? 'store_newer' : 'store_corrupt',
    message: 'nothing of this can be mended here',
    next: newer
      ? 'update Stepfast'
      : 'bring the texts back from a copy, or go on with what the journal has of them',
  };
}

const personFor = (id: string, keep: string | undefined, io: Io): Refused | undefined =>
  personOnly(io, 'a repair', `stepfast repair ${id}${keep === undefined ? '' : ` --keep ${keep}`}`);

async function mend(
  check: Checked,
  keep: string | undefined,
  runtime: LocalRuntime,
  io: Io,
  values: { json?: boolean | undefined },
): Promise<number> {
  const { run: id } = check;
  const what =
    keep === undefined
      ? 'What is whole is kept, the rest is left out.'
      : `The history ${printable(keep)} is kept, the others are left out.`;
  io.stderr.write(`\n${what} The journal as it is now stays beside it as a copy.\n`);
  if (!(await typed(io, 'repair', 'do it'))) return declined(io, values);
  const repaired = await runtime.store.repair(id, keep === undefined ? {} : { keep });
  const state = (await runtime.engine.view(id))?.state;
  if (values.json) return printJson(io, { ...repaired, stands_at: state ? standsAt(state) : null }, exit.ok);
  const lost = repaired.dropped.filter(({ seq }) => seq !== undefined).length;
  const copy = repaired.backup === undefined ? '' : ` The old journal is ${repaired.backup}.`;
  const stands = state ? ` It stands at ${printable(standsAt(state))}.` : '';
  io.stdout.write(
    `${id} is whole up to batch ${repaired.kept.seq}.${stands} ${lost === 0 ? 'Nothing that was whole is lost' : `${count(lost, 'batch', 'batches')} left out: ${lostWords(repaired.dropped)}`}.${copy}\n`,
  );
  return exit.ok;
}

type Dropped = Awaited<ReturnType<LocalRuntime['store']['repair']>>['dropped'];

/** `position.completed, note.added`: what the batches told of, each once. */
const lostWords = (dropped: Dropped): string =>
  printable([...new Set(dropped.flatMap(({ what }) => what))].join(', '));
