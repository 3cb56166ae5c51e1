import { withoutSecrets } from '../../context/index.ts';
import { ended } from '../../machine/index.ts';
import { type LocalRuntime, type RunSummary, summarizeRun } from '../../runtime/index.ts';
import { readArgs } from '../args.ts';
import { timeOf } from '../clock.ts';
import { exit } from '../exit.ts';
import type { Io } from '../io.ts';
import { renderLine } from '../paint.ts';
import { printRefusal } from '../perform.ts';
import { openRuntime, projectOptions } from '../run-options.ts';
import { symbolsFor } from '../view/symbols.ts';
import { lastRun } from './log.ts';
import { summaryLine, watchFrame } from './watch-frame.ts';

export const options = projectOptions;

const pollMs = 1_000;

/** Shows runs and what they need, until the person stops it or the named runs have ended. Changes nothing. */
export async function run(args: readonly string[], io: Io): Promise<number> {
  const { values, positionals } = readArgs(args, options, { max: Number.POSITIVE_INFINITY });
  const runtime = openRuntime(io, values);
  const named: string[] = [];
  for (const name of positionals) {
    const found = await lastRun(runtime, name);
    if ('code' in found) return printRefusal(found, io, { ...values, run: name });
    named.push(found.run);
  }
  const isLive = io.stdout.columns !== undefined && !values.json;
  const show = isLive ? createScreen(io) : createLines(io, values.json ?? false);
  const read = createReader(runtime, named);
  const { stopped, release } = untilInterrupted(io);
  try {
    for (;;) {
      const runs = await read();
      show(runs);
      const isOver = named.length > 0 && runs.every(({ status }) => endings.includes(status));
      if (isOver || (await Promise.race([stopped, sleep(pollMs)])) === 'stopped') return exit.ok;
    }
  } finally {
    release();
  }
}

const endings: readonly string[] = ['complete', 'failed', 'cancelled'];

const sleep = (ms: number): Promise<'awake'> =>
  new Promise((resolve) => {
    setTimeout(() => resolve('awake'), ms);
  });

function untilInterrupted(io: Io): { stopped: Promise<'stopped'>; release: () => void } {
  let release = (): void => {};
  const stopped = new Promise<'stopped'>((resolve) => {
    release = io.onInterrupt(() => resolve('stopped'));
  });
  return { stopped, release };
}

/** Live runs, and those that have ended since; or those that were named. A run that did not change is not read again. */
function createReader({ engine }: LocalRuntime, named: readonly string[]): () => Promise<RunSummary[]> {
  const known = new Map<string, RunSummary>();
  return async () => {
    for (const { run, state } of await engine.runs({ ended: true })) {
      if (!state || (named.length > 0 && !named.includes(run))) continue;
      const before = known.get(run);
      if (before ? before.updatedAt === state.updatedAt : ended(state) && !named.includes(run)) continue;
      const view = await engine.view(run);
      if (view) known.set(run, summarizeRun(view));
    }
    return [...known.values()].sort(byUrgency);
  };
}

/** What waits longest for a person is first, then what moved last. */
function byUrgency(a: RunSummary, b: RunSummary): number {
  const [need, other] = [a.needs[0]?.since, b.needs[0]?.since];
  if (need !== undefined || other !== undefined)
    return (need ?? Number.POSITIVE_INFINITY) - (other ?? Number.POSITIVE_INFINITY);
  return Number(endings.includes(a.status)) - Number(endings.includes(b.status)) || b.updatedAt - a.updatedAt;
}

function createScreen(io: Io): (runs: readonly RunSummary[]) => void {
  let drawn = 0;
  let width = 0;
  return (runs) => {
    // A terminal that became narrower has broken the lines that were drawn.
    const isResized = width !== io.stdout.columns;
    if (drawn > 0) io.stdout.write(isResized ? '\u001b[H\u001b[2J' : `\u001b[${drawn}A\u001b[J`);
    width = io.stdout.columns ?? 0;
    const lines = watchFrame(runs, io).slice(0, Math.max(1, (io.stdout.rows ?? 24) - 1));
    io.stdout.write(lines.map((line) => `${line}\n`).join(''));
    drawn = lines.length;
  };
}

/** A line for each change. */
function createLines(io: Io, json: boolean): (runs: readonly RunSummary[]) => void {
  const last = new Map<string, string>();
  return (runs) => {
    for (const summary of runs) {
      const text = json
        ? JSON.stringify(withoutSecrets(summary))
        : renderLine(summaryLine(summary, symbolsFor(io)), io.stdout);
      if (last.get(summary.run) === text) continue;
      last.set(summary.run, text);
      io.stdout.write(json ? `${text}\n` : `${timeOf(summary.updatedAt)}  ${text}\n`);
    }
  };
}
