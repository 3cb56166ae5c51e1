import { ended, type State } from '../../machine/index.ts';
import { ago, printable } from '../../messages/index.ts';
import { readArgs } from '../args.ts';
import { exit } from '../exit.ts';
import type { Io } from '../io.ts';
import { printJson, printRefusal } from '../perform.ts';
import { runNamed } from '../run-name.ts';
import { openRuntime, runOptions } from '../run-options.ts';
import { type Cell, table } from '../table.ts';
import { lastRun } from './log.ts';

export const options = runOptions;

type Session = State['sessions'][string];

export async function run(args: readonly string[], io: Io): Promise<number> {
  const { values, positionals } = readArgs(args, options, { max: 1 });
  const named = runNamed(positionals, values);
  const runtime = openRuntime(io, values);
  const found = await lastRun(runtime, named);
  if ('code' in found) return printRefusal(found, io, { ...values, run: named });
  const state = (await runtime.engine.view(found.run))?.state;
  const runEnded = state !== undefined && ended(state);
  const sessions = Object.entries(state?.sessions ?? {}).sort(([, a], [, b]) => a.startedAt - b.startedAt);
  if (values.json)
    return printJson(io, { run: found.run, sessions: sessions.map((each) => documentOf(...each)) }, exit.ok);
  if (sessions.length === 0) io.stderr.write(`No sessions have worked on ${found.run}.\n`);
  else
    io.stdout.write(
      table(
        head,
        sessions.map((each) => row(...each, runEnded, io)),
        io,
      ),
    );
  return exit.ok;
}

const head = ['session', 'host', 'started', 'ended', 'machine', 'commit', 'phases completed'];

function row(id: string, session: Session, runEnded: boolean, io: Io): Cell[] {
  const { hostname, machine, git_commit: commit = '' } = session.environment ?? {};
  return [
    ['bold', printable(id)],
    printable(session.host ?? ''),
    ['dim', ago(session.startedAt, io.now())],
    endOf(session, runEnded, io),
    printable(hostname ?? machine ?? ''),
    printable(commit.slice(0, 7)),
    printable(session.completed.join(', ')),
  ];
}

/** Not every host reports the end of a session, so after the run it is unknown. */
function endOf({ endedAt }: Session, runEnded: boolean, io: Io): Cell {
  if (endedAt !== undefined) return ['dim', ago(endedAt, io.now())];
  return runEnded ? ['dim', '-'] : ['green', 'live'];
}

const documentOf = (id: string, session: Session): object => ({
  session: id,
  host: session.host ?? null,
  started_at: new Date(session.startedAt).toISOString(),
  ended_at: session.endedAt === undefined ? null : new Date(session.endedAt).toISOString(),
  phases_completed: session.completed,
  resets: session.resets,
  worktree: session.worktree ?? null,
  environment: session.environment ?? {},
});
