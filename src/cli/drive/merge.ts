import { commandName } from '../../command-name.ts';
import { createMergeQueue, defaultTiming, type Progress, takeLease } from '../../driver/index.ts';
import { queuedMerges } from '../../machine/index.ts';
import { isRefused } from '../../runtime/index.ts';
import { readArgs } from '../args.ts';
import { person, personOnly } from '../caller.ts';
import { exit } from '../exit.ts';
import type { Io } from '../io.ts';
import { renderLine, type Span } from '../paint.ts';
import { printJson, printRefusal } from '../perform.ts';
import { runNamed } from '../run-name.ts';
import { openRuntime, runOptions } from '../run-options.ts';
import { symbolsFor } from '../view/symbols.ts';

export const options = {
  ...runOptions,
  again: { type: 'string' },
  accept: { type: 'boolean' },
} as const;

/** One round of the merge queue, with the code of the driver. */
export async function run(args: readonly string[], io: Io): Promise<number> {
  const { values, positionals } = readArgs(args, options, { max: 1 });
  const decides = values.again !== undefined || values.accept === true;
  const refused = decides ? personOnly(io, 'decide about a merge', `${commandName()} merge`) : undefined;
  if (refused) return printRefusal(refused, io, values);
  const runtime = openRuntime(io, values);
  const found = await runtime.loadRun({ run: runNamed(positionals, values) });
  if ('code' in found) return printRefusal(found, io, values);
  const { run: id, state } = found;
  if (values.again !== undefined) {
    const { reply } = await runtime.call({ type: 'retryMerge', task: values.again }, person(io), { run: id });
    return isRefused(reply) ? printRefusal(reply, io, values) : said(`${values.again} is tried again.`);
  }
  if (queuedMerges(state).length === 0) return said('No task waits to be merged.');
  const branch = state.branch ?? (await currentBranch());
  const lease = await takeLease(runtime, id, branch);
  if ('code' in lease) return printRefusal(lease, io, values);
  const stop = new AbortController();
  const release = io.onInterrupt(() => stop.abort());
  const results: Extract<Progress, { type: 'merge' }>[] = [];
  try {
    const context = {
      ...{ runtime, run: id, clock: io.now, commits: true },
      timing: { ...defaultTiming, heldMs: 0 },
      signal: AbortSignal.any([stop.signal, lease.lost]),
      report,
    };
    await createMergeQueue(context, lease.epoch, { accepts: values.accept === true }).round();
  } finally {
    release();
    await lease.release();
  }
  const isClean = results.every(({ state: each }) => each === 'merged');
  if (values.json) return printJson(io, { run: id, branch, results }, isClean ? exit.ok : exit.no);
  return isClean ? exit.ok : exit.no;

  function report(progress: Progress): void {
    if (progress.type !== 'merge' || progress.state === 'merging') return;
    results.push(progress);
    const { done, bad, waits, more } = symbolsFor(io);
    const sign: Span = {
      merged: ['green', done] as const,
      held: ['yellow', waits] as const,
      conflict: ['red', bad] as const,
      red: ['red', bad] as const,
    }[progress.state];
    const line = [
      sign,
      ` ${progress.task}  ${progress.state}`,
      ['dim', `  ${progress.detail ?? ''}`] as const,
    ];
    if (!values.json) io.stdout.write(`${renderLine(line, io.stdout, more)}\n`);
  }

  function said(text: string): number {
    if (values.json) return printJson(io, { run: id, message: text }, exit.ok);
    io.stdout.write(`${text}\n`);
    return exit.ok;
  }

  async function currentBranch(): Promise<string | undefined> {
    const { workspace, project } = runtime;
    return (
      (await workspace.git(['symbolic-ref', '-q', '--short', 'HEAD'], project.worktree))?.trim() || undefined
    );
  }
}
