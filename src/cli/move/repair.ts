import type { Runtime } from '../../runtime/index.ts';
import { ago } from '../age.ts';
import { readArgs } from '../args.ts';
import { personOnly } from '../caller.ts';
import { typed } from '../confirm.ts';
import { declined } from '../decide/verdict.ts';
import { exit, usageError } from '../exit.ts';
import type { Io } from '../io.ts';
import { paint } from '../paint.ts';
import { printJson, printRefusal } from '../perform.ts';
import { openRuntime, runOptions } from '../run-options.ts';
import { count, printable } from '../text.ts';
import { signsFor } from '../view/signs.ts';

export const options = { ...runOptions, keep: { type: 'string' } } as const;

type Checked = NonNullable<Awaited<ReturnType<Runtime['store']['check']>>>;

export async function run(args: readonly string[], io: Io): Promise<number> {
  const { values, positionals } = readArgs(args, options, { max: 1 });
  if (positionals.length > 0 && values.run !== undefined) throw usageError('Name the run once.');
  const named = positionals[0] ?? values.run;
  const runtime = openRuntime(io, values);
  const checks = await checksOf(runtime, named);
  if ('code' in checks) return printRefusal(checks, io, { ...values, run: named });
  const ill = checks.filter(({ problems }) => problems.length > 0);
  if (ill.length === 0) {
    if (values.json) return printJson(io, { runs: checks }, exit.ok);
    io.stdout.write(
      `${paint(io.stdout, 'green', signsFor(io).done)} ${count(checks.length, 'run')} looked at, nothing to mend.\n`,
    );
    return exit.ok;
  }
  if (!values.json) for (const check of ill) show(check, io);
  const [only, second] = ill;
  if (second || !only) {
    const runs = ill.map(({ run: id }) => id);
    return printRefusal(
      {
        code: 'several_runs',
        message: `${ill.length} runs need a repair`,
        next: 'one at a time: stepfast repair <run>',
        runs,
      },
      io,
      values,
    );
  }
  return await mend(only, values.keep, runtime, io, values);
}

/** Those that were named, or every run: whoever asks for a repair often knows no id. */
async function checksOf(
  runtime: Runtime,
  named: string | undefined,
): Promise<Checked[] | Exclude<Awaited<ReturnType<Runtime['which']>>, { run: string }>> {
  const found = named === undefined ? undefined : await runtime.which({ run: named });
  if (found && 'code' in found) return found;
  const ids = found ? [found.run] : await runtime.engine.ids();
  const checks: Checked[] = [];
  for (const id of ids) {
    const check = await runtime.store.check(id);
    if (check) checks.push(check);
  }
  return checks;
}

function show({ run: id, batches, problems, harmless, branches }: Checked, io: Io): void {
  const out = (text: string): void => io.stderr.write(`${text}\n`);
  out(`${paint(io.stderr, 'bold', id)}  ${count(batches, 'batch', 'batches')} whole`);
  for (const { line, message } of problems)
    out(
      `  ${paint(io.stderr, 'red', signsFor(io).bad)} ${line === undefined ? '' : `line ${line}: `}${printable(message)}`,
    );
  if (harmless.length > 0)
    out(
      `  ${paint(io.stderr, 'dim', `and ${count(harmless.length, 'harmless trace')} of crashes or races`)}`,
    );
  for (const { id: branch, machine, from, to, ended, what, accepted } of branches)
    out(
      `  history ${paint(io.stderr, 'bold', branch)}  batches ${from} to ${to} by ${printable(machine)}, ${ago(ended, io.now())}${accepted ? ', the one that is read' : ''}: ${what.join(', ')}`,
    );
}

async function mend(
  check: Checked,
  keep: string | undefined,
  runtime: Runtime,
  io: Io,
  values: { json?: boolean | undefined },
): Promise<number> {
  const { run: id, branches, problems } = check;
  if (branches.length > 0 && keep === undefined) {
    const next = `choose one: stepfast repair ${id} --keep ${branches[0]?.id}`;
    return printRefusal(
      {
        code: 'store_forked',
        message: `${id} has ${branches.length} histories, and only a person can say which holds`,
        next,
      },
      io,
      values,
    );
  }
  if (problems.every(({ kind }) => kind === 'text' || kind === 'newer')) {
    return printRefusal(
      {
        code: 'store_corrupt',
        message: `nothing of this can be mended here`,
        next: problems[0]?.message ?? '',
      },
      io,
      values,
    );
  }
  const refused = personOnly(
    io,
    'a repair',
    `stepfast repair ${id}${keep === undefined ? '' : ` --keep ${keep}`}`,
  );
  if (refused) return printRefusal(refused, io, values);
  const what =
    keep === undefined
      ? 'What is whole is kept, the rest is left out.'
      : `The history ${printable(keep)} is kept, the others are left out.`;
  io.stderr.write(`\n${what} The journal as it is now stays beside it as a copy.\n`);
  if (!(await typed(io, 'repair', 'do it'))) return declined(io, values);
  const repaired = await runtime.store.repair(id, keep === undefined ? {} : { keep });
  if (values.json) return printJson(io, repaired, exit.ok);
  const copy = repaired.backup === undefined ? '' : ` The old journal is ${repaired.backup}.`;
  io.stdout.write(
    `${id} is whole up to batch ${repaired.kept.seq}; ${count(repaired.dropped.length, 'line')} left out.${copy}\n`,
  );
  return exit.ok;
}
