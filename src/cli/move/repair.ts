import { commandName } from '../../command-name.ts';
import { ago, count, describeEvent, printable, type RefusalText } from '../../messages/index.ts';
import { type LocalRuntime, positionText, type Refused } from '../../runtime/index.ts';
import { readArgs } from '../args.ts';
import { personOnly } from '../caller.ts';
import { confirm, printDeclined } from '../confirm.ts';
import { exit } from '../exit.ts';
import type { Io } from '../io.ts';
import { paint, renderLine, type Span } from '../paint.ts';
import { printJson, printRefusal } from '../perform.ts';
import { runNamed } from '../run-name.ts';
import { openRuntime, runOptions } from '../run-options.ts';
import { symbolsFor } from '../view/symbols.ts';
import { isLocal, onServer } from './on-server.ts';
import { ownBatches } from './own-batches.ts';
import { findingsOf, formatFinding } from './repair-findings.ts';

export const options = { ...runOptions, keep: { type: 'string' } } as const;

/** Events shown per history. */
const maxShown = 20;

type Checked = NonNullable<Awaited<ReturnType<LocalRuntime['store']['check']>>>;

export async function run(args: readonly string[], io: Io): Promise<number> {
  const { values, positionals } = readArgs(args, options, { max: 1 });
  const named = runNamed(positionals, values);
  const runtime = openRuntime(io, values);
  const checks = await checksOf(runtime, named);
  if ('code' in checks) return printRefusal(checks, io, { ...values, run: named });
  const damaged = checks.filter(({ problems }) => problems.length > 0);
  if (damaged.length === 0) {
    if (values.json)
      return printJson(io, { runs: checks.map((check) => checkJson(check, runtime)) }, exit.ok);
    io.stdout.write(
      `${paint(io.stdout, 'green', symbolsFor(io).done)} ${count(checks.length, 'run')} checked, no damage found.\n`,
    );
    return exit.ok;
  }
  if (!values.json) for (const check of damaged) show(check, runtime, io);
  const found = damaged.map((check) => checkJson(check, runtime));
  const refuse = (refused: RefusalText): number =>
    values.json ? printJson(io, { ...refused, found }, exit.no) : printRefusal(refused, io, {});
  const [only, second] = damaged;
  if (second || !only) {
    const runs = damaged.map(({ run: id }) => id);
    const message = `${damaged.length} runs need repair`;
    return refuse({
      code: 'several_runs',
      message,
      next: `repair one at a time: ${commandName()} repair <run>`,
      runs,
    });
  }
  const refusal = refusalFor(only, values.keep) ?? personFor(only.run, values.keep, io);
  if (refusal) return refuse(refusal);
  return await repairRun(only, values.keep, runtime, io, values);
}

/** Checks the named run, or every run. */
async function checksOf(
  runtime: LocalRuntime,
  named: string | undefined,
): Promise<Checked[] | RefusalText | Refused> {
  const found = named === undefined ? undefined : await runtime.chooseRun({ run: named });
  if (found && 'code' in found) return found;
  const served = found && onServer(runtime, found.run, 'repaired');
  if (served) return served;
  const ids = found ? [found.run] : (await runtime.engine.ids()).filter((id) => isLocal(runtime, id));
  const checks: Checked[] = [];
  for (const id of ids) {
    const check = await runtime.store.check(id);
    if (check) checks.push(check);
  }
  return checks;
}

function show(check: Checked, runtime: LocalRuntime, io: Io): void {
  const { run: id, batches, problems, harmless, branches } = check;
  const symbols = symbolsFor(io);
  const line = (...spans: Span[]): void => io.stderr.write(`${renderLine(spans, io.stderr, symbols.more)}\n`);
  line(['bold', id], `  ${count(batches, 'batch', 'batches')} intact`);
  for (const finding of findingsOf(problems))
    line('  ', ['red', symbols.bad], ` ${formatFinding(finding, io.unicode ? '–' : '-')}`);
  if (harmless.length > 0)
    line('  ', ['dim', `and ${count(harmless.length, 'harmless trace')} of crashes or races`]);
  for (const branch of branches) {
    const { machine, from, to, ended, accepted } = branch;
    const read = accepted ? ', currently used' : '';
    line(
      '  history ',
      ['bold', branch.id],
      `  batches ${from} to ${to} by ${machine}, ${ago(ended, io.now())}${read}`,
    );
    const shown = ownBatches(runtime, id, branch).flatMap(({ seq, events }) =>
      events.flatMap((event): Span[][] => {
        const words = describeEvent(event, symbols);
        return words ? [[['dim', `    ${String(seq).padStart(4)}  `], ...words]] : [];
      }),
    );
    for (const words of shown.slice(0, maxShown)) line(...words);
    if (shown.length > maxShown) line(['dim', `          and ${shown.length - maxShown} more`]);
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

/** Refusals that need no confirmation first. */
function refusalFor(
  { run: id, branches, problems }: Checked,
  keep: string | undefined,
): RefusalText | undefined {
  const ids = branches.map((branch) => branch.id);
  if (keep !== undefined && !ids.includes(keep)) {
    const there = ids.length === 0 ? 'it has only one history' : `it has ${ids.join(' and ')}`;
    const message = `${id} has no history '${keep}': ${there}`;
    const next =
      ids.length === 0 ? `${commandName()} repair ${id}` : `${commandName()} repair ${id} --keep ${ids[0]}`;
    return { code: 'unknown_branch', message, next };
  }
  if (ids.length > 0 && keep === undefined) {
    const message = `${id} has ${ids.length} histories, and a person must choose which one to keep`;
    const commands = ids.map((each) => `${commandName()} repair ${id} --keep ${each}`);
    return { code: 'store_forked', message, next: `choose one: ${commands.join(' or ')}` };
  }
  if (!problems.every(({ kind }) => kind === 'text' || kind === 'newer')) return undefined;
  const newer = problems.some(({ kind }) => kind === 'newer');
  return {
    code: newer ? 'store_newer' : 'store_corrupt',
    message: 'this damage cannot be repaired here',
    next: newer
      ? 'update Stepfast'
      : 'restore the texts from a backup, or continue with the excerpts in the journal',
  };
}

const personFor = (id: string, keep: string | undefined, io: Io): RefusalText | undefined =>
  personOnly(
    io,
    'repairing a run',
    `${commandName()} repair ${id}${keep === undefined ? '' : ` --keep ${keep}`}`,
  );

async function repairRun(
  check: Checked,
  keep: string | undefined,
  runtime: LocalRuntime,
  io: Io,
  values: { json?: boolean | undefined },
): Promise<number> {
  const { run: id } = check;
  const what =
    keep === undefined
      ? 'The intact part is kept, the rest is dropped.'
      : `The history ${printable(keep)} is kept, the others are dropped.`;
  io.stderr.write(`\n${what} The current journal is kept as a backup.\n`);
  if (!(await confirm(io, '\nRepair the run?'))) return printDeclined(io, values);
  const repaired = await runtime.store.repair(id, keep === undefined ? {} : { keep });
  const state = (await runtime.engine.view(id))?.state;
  if (values.json)
    return printJson(io, { ...repaired, stands_at: state ? positionText(state) : null }, exit.ok);
  const lost = repaired.dropped.filter(({ seq }) => seq !== undefined).length;
  const copy = repaired.backup === undefined ? '' : ` Backup: ${repaired.backup}.`;
  const stands = state ? ` It is at ${printable(positionText(state))}.` : '';
  io.stdout.write(
    `Repaired ${id} up to batch ${repaired.kept.seq}.${stands} ${lost === 0 ? 'No intact batch was lost' : `${count(lost, 'batch', 'batches')} dropped: ${droppedTypes(repaired.dropped)}`}.${copy}\n`,
  );
  return exit.ok;
}

type Dropped = Awaited<ReturnType<LocalRuntime['store']['repair']>>['dropped'];

/** The distinct event types: `position.completed, note.added`. */
const droppedTypes = (dropped: Dropped): string =>
  printable([...new Set(dropped.flatMap(({ what }) => what))].join(', '));
