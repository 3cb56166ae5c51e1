import { commandName } from '../../command-name.ts';
import { StepfastError } from '../../errors.ts';
import { ago, count, openingOf, printable, type RefusalText } from '../../messages/index.ts';
import {
  createTransfer,
  type LocalRuntime,
  type Outgoing,
  positionText,
  type Remote,
} from '../../runtime/index.ts';
import { readArgs } from '../args.ts';
import { isPerson } from '../caller.ts';
import { confirm, printDeclined } from '../confirm.ts';
import { exit, usageError } from '../exit.ts';
import type { Io } from '../io.ts';
import { paint, renderLine } from '../paint.ts';
import { printJson, printRefusal } from '../perform.ts';
import { runNamed, suffixOf } from '../run-name.ts';
import { openRuntime, runOptions } from '../run-options.ts';
import { symbolsFor } from '../view/symbols.ts';
import { listSecrets } from './list-secrets.ts';
import { isLocal, onServer } from './on-server.ts';
import { diverged, forkJson, runArguments, showFork } from './show-fork.ts';
import { printNotes, transferNotes, uncommittedNotes } from './transfer-notes.ts';

export const options = {
  ...runOptions,
  remote: { type: 'string' },
  all: { type: 'boolean' },
  yes: { type: 'boolean', short: 'y' },
  'with-secrets': { type: 'boolean' },
} as const;

type Outcome = { run: string } & (
  | { is: 'sent' | 'equal' | 'ready'; outgoing: Outgoing }
  | { is: 'refused'; refused: RefusalText; outgoing?: Outgoing }
);

export async function run(args: readonly string[], io: Io): Promise<number> {
  const { values, positionals } = readArgs(args, options, { max: 1 });
  const named = runNamed(positionals, values);
  if (named !== undefined && values.all) throw usageError('Give a run or --all, not both.');
  const runtime = openRuntime(io, values);
  const { project, engine } = runtime;
  const found = values.all ? undefined : await runtime.chooseRun({ run: named });
  if (found && 'code' in found) return printRefusal(found, io, { ...values, run: named });
  const served = found && onServer(runtime, found.run, 'pushed to a git remote');
  if (served) return printRefusal(served, io, values);
  const runs = found ? [found.run] : (await engine.ids()).filter((id) => isLocal(runtime, id));
  const transfer = createTransfer({ project, ids: engine.ids, env: io.env, home: io.home });
  const remote = await transfer.remote(values.remote ?? 'origin');
  const outcomes: Outcome[] = [];
  for (const id of runs) outcomes.push(await prepare(id, remote, values['with-secrets'] ?? false));
  const ready = outcomes.flatMap((outcome) => (outcome.is === 'ready' ? outcome.outgoing : []));
  if (!values.json || !values.yes)
    for (const outgoing of ready) await showOutgoing(outgoing, remote, runtime, io);
  if (ready.length > 0 && !values.yes) {
    const what = `${count(ready.length, 'run')} would be pushed to ${remote.pushUrl}`;
    const next = 'confirm with --yes; a run contains what agents and people wrote';
    if (!isPerson(io)) return printRefusal({ code: 'not_confirmed', message: what, next }, io, values);
    if (!(await confirm(io, ready.length === 1 ? 'Push it?' : `Push ${count(ready.length, 'run')}?`)))
      return printDeclined(io, values);
  }
  const done: Outcome[] = [];
  for (const outcome of outcomes) done.push(outcome.is === 'ready' ? await sent(outcome.outgoing) : outcome);
  return report(done, remote, io, values);

  async function prepare(id: string, to: Remote, withSecrets: boolean): Promise<Outcome> {
    try {
      const outgoing = await transfer.prepare(id, to);
      if (outgoing.is === 'equal') return { run: id, is: 'equal', outgoing };
      const refused = refusalFor(outgoing, to, withSecrets);
      return refused ? { run: id, is: 'refused', refused, outgoing } : { run: id, is: 'ready', outgoing };
    } catch (error) {
      // With --all, a damaged run does not block the others.
      if (!values.all || !(error instanceof StepfastError)) throw error;
      const next = `check it: ${commandName()} status ${suffixOf(id)}`;
      return { run: id, is: 'refused', refused: { code: error.code, message: error.message, next } };
    }
  }

  async function sent(outgoing: Outgoing): Promise<Outcome> {
    if ((await transfer.send(outgoing, remote)) === 'sent')
      return { run: outgoing.run, is: 'sent', outgoing };
    const message = `'${remote.name}' changed during the push of ${outgoing.run}. Nothing was pushed`;
    const refused = {
      code: 'moved',
      message,
      next: `${commandName()} pull ${runArguments(outgoing.run, remote.name)}`,
    };
    return { run: outgoing.run, is: 'refused', refused };
  }
}

/** Why a run is not pushed. */
export function refusalFor(
  { run, is, fork, secrets }: Outgoing,
  remote: Remote,
  withSecrets: boolean,
): RefusalText | undefined {
  if (is === 'diverged' || is === 'foreign') return diverged(run, remote.name);
  if (is === 'behind') {
    const more = count(fork?.there.batches ?? 0, 'more batch', 'more batches');
    const message = `'${remote.name}' is ${more} ahead of ${run}, and there is nothing to push`;
    return { code: 'behind', message, next: `${commandName()} pull ${runArguments(run, remote.name)}` };
  }
  if (secrets.length === 0 || withSecrets) return undefined;
  return {
    code: 'secrets_found',
    message: `${run} contains ${count(secrets.length, 'secret')}: ${listSecrets(secrets)}`,
    next: `rotate the secret; if this is a false positive: ${commandName()} push ${runArguments(run, remote.name)} --with-secrets`,
  };
}

/** Shows what is about to leave this machine. */
export async function showOutgoing(
  outgoing: Outgoing,
  remote: Remote,
  { engine }: LocalRuntime,
  io: Io,
): Promise<void> {
  const { run: id, is, batches, further, texts, bytes, last } = outgoing;
  const line = (name: string, text: string): void =>
    io.stderr.write(
      `${renderLine([['dim', `  ${name.padEnd(8)}`], text], io.stderr, symbolsFor(io).more)}\n`,
    );
  const part = further < batches ? ` of ${batches}` : '';
  // Not truncated: the person must see the full URL.
  io.stderr.write(`${paint(io.stderr, 'bold', id)} to ${printable(`${remote.name}, ${remote.pushUrl}`)}\n`);
  line(
    'pushes',
    `${further}${part} ${batches === 1 ? 'batch' : 'batches'}, ${count(texts, 'long text')}, ${sizeOf(bytes)}`,
  );
  line('at', `${positionText(last.state)}, ${ago(last.now, io.now())} by ${last.author} on ${last.machine}`);
  const [output] = Object.values(last.state.outputs).sort((one, other) => other.now - one.now);
  if (output) line('output', openingOf(output.text));
  if (is === 'chosen')
    line('replaces', `the history of ${outgoing.fork?.there.machine}, which stays in the parent commit`);
  const view = await engine.view(id);
  if (view)
    printNotes(
      [...uncommittedNotes(outgoing.uncommitted), ...transferNotes(view.definition, last.state, io.now())],
      io,
    );
}

function report(
  outcomes: readonly Outcome[],
  remote: Remote,
  io: Io,
  values: { json?: boolean | undefined; all?: boolean | undefined },
): number {
  const code = outcomes.some(({ is }) => is === 'refused') ? exit.no : exit.ok;
  if (values.json) {
    const documents = outcomes.map((outcome) => outcomeJson(outcome, remote));
    const [only] = documents;
    return printJson(io, values.all || !only ? { runs: documents } : only, code);
  }
  if (outcomes.length === 0)
    io.stderr.write(`No runs to push. Start one: ${commandName()} go "what to do"\n`);
  for (const outcome of outcomes) {
    const { run: id, outgoing } = outcome;
    if (outcome.is === 'refused') {
      if (outgoing?.fork && outgoing.is !== 'behind') showFork(id, outgoing.fork, remote.name, io);
      printRefusal(outcome.refused, io, {});
      continue;
    }
    const sent = count(outgoing?.further ?? 0, 'batch', 'batches');
    const what = outcome.is === 'sent' ? `${sent} pushed to ${remote.name}` : `${remote.name} is up to date`;
    io.stdout.write(`${paint(io.stdout, 'green', symbolsFor(io).done)} ${id}  ${what}\n`);
    if (outcome.is === 'equal') printNotes(uncommittedNotes(outcome.outgoing.uncommitted), io);
    if (outcome.is === 'sent')
      io.stdout.write(
        `  On the other machine: ${paint(io.stdout, 'cyan', `stepfast pull ${runArguments(id, remote.name)}`)}\n`,
      );
  }
  return code;
}

const outcomeJson = ({ run: id, outgoing, ...outcome }: Outcome, remote: Remote): object => ({
  run: id,
  remote: remote.name,
  url: remote.pushUrl,
  ...('refused' in outcome ? outcome.refused : { did: outcome.is === 'sent' ? 'sent' : 'nothing' }),
  ...(outgoing
    ? {
        batches: outgoing.further,
        texts: outgoing.texts,
        bytes: outgoing.bytes,
        secrets: outgoing.secrets,
        uncommitted: outgoing.uncommitted,
      }
    : {}),
  ...(outgoing?.fork ? forkJson(outgoing.fork) : {}),
});

const sizeOf = (bytes: number): string =>
  bytes < 1024
    ? `${bytes} bytes`
    : bytes < 1024 * 1024
      ? `${Math.round(bytes / 1024)} KB`
      : `${(bytes / 1024 / 1024).toFixed(1)} MB`;
