import { existsSync, readFileSync, statSync } from 'node:fs';
import type { Progress } from '../../driver/index.ts';
import { ended } from '../../machine/index.ts';
import type { LocalRuntime } from '../../runtime/index.ts';
import { watchFile } from '../../watch-file.ts';
import { runWorktree } from '../../workspace/index.ts';
import { readArgs } from '../args.ts';
import { exit } from '../exit.ts';
import type { Io } from '../io.ts';
import { lastRun } from '../look/log.ts';
import { printRefusal } from '../perform.ts';
import { runNamed } from '../run-name.ts';
import { openRuntime, runOptions } from '../run-options.ts';
import { activityFile, createRunScreen, printHead } from './run-screen.ts';

export const options = runOptions;

const pollMs = 300;
const watchedPollMs = 2_000;
const watchMs = 30_000;
/** Of the journal, shown at the beginning. */
const lastEntries = 20;

/** Shows a run until it ends, and changes nothing. */
export async function run(args: readonly string[], io: Io): Promise<number> {
  const { values, positionals } = readArgs(args, options, { max: 1 });
  const named = runNamed(positionals, values);
  const runtime = openRuntime(io, values);
  const found = await lastRun(runtime, named);
  if ('code' in found) return printRefusal(found, io, { ...values, run: named });
  const { run: id } = found;
  const view = await runtime.engine.view(id);
  const from = Math.max(0, (view?.version.seq ?? 0) - lastEntries);
  const worktree = runWorktree(runtime.project, id) ?? runtime.project.worktree;
  if (view) printHead(view, { branch: view.state.branch, worktree }, io);
  const screen = createRunScreen(runtime, id, io, { records: false, from });
  const stop = new AbortController();
  const { signal } = stop;
  const release = io.onInterrupt(() => stop.abort());
  const file = activityFile(runtime, id);
  const activity = watchFile(file);
  let offset = existsSync(file) ? statSync(file).size : 0;
  try {
    const ending = untilEnded(runtime, id, signal).finally(() => stop.abort());
    while (!signal.aborted) {
      offset = showNew(offset);
      await activity.next(activity.works ? watchedPollMs : pollMs, signal);
    }
    await ending;
    showNew(offset);
    return exit.ok;
  } finally {
    stop.abort();
    activity.close();
    release();
    await screen.end();
  }

  /** Returns how much of the file was read: whole lines only. */
  function showNew(before: number): number {
    if (!existsSync(file)) return before;
    const text = readFileSync(file).subarray(before).toString('utf8');
    const whole = text.slice(0, text.lastIndexOf('\n') + 1);
    for (const line of whole.split('\n').filter(Boolean)) screen.show(JSON.parse(line) as Progress);
    return before + Buffer.byteLength(whole);
  }
}

async function untilEnded({ engine }: LocalRuntime, run: string, signal: AbortSignal): Promise<void> {
  try {
    for (let view = await engine.view(run); view && !ended(view.state) && !signal.aborted; )
      view = await engine.watch(run, view.version.seq, watchMs, { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
