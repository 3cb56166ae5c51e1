import type { State } from '../../machine/index.ts';
import { ago } from '../age.ts';
import { readArgs } from '../args.ts';
import { exit, usageError } from '../exit.ts';
import type { Io } from '../io.ts';
import { printJson, printRefusal } from '../perform.ts';
import { openRuntime, runOptions } from '../run-options.ts';
import { type Cell, table } from '../table.ts';
import { printable } from '../text.ts';
import { lastRun } from './log.ts';

export const options = runOptions;

type Session = State['sessions'][string];

export async function run(args: readonly string[], io: Io): Promise<number> {
  const { values, positionals } = readArgs(args, options, { max: 1 });
  if (positionals.length > 0 && values.run !== undefined) throw usageError('Name the run once.');
  const named = positionals[0] ?? values.run;
  const runtime = openRuntime(io, values);
  const found = await lastRun(runtime, named);
  if ('code' in found) return printRefusal(found, io, { ...values, run: named });
  const state = (await runtime.engine.view(found.run))?.state;
  const sessions = Object.entries(state?.sessions ?? {}).sort(([, a], [, b]) => a.startedAt - b.startedAt);
  if (values.json)
    return printJson(io, { run: found.run, sessions: sessions.map((each) => documentOf(...each)) }, exit.ok);
  if (sessions.length === 0) io.stderr.write(`No session has worked on ${found.run} yet.\n`);
  else
    io.stdout.write(
      table(
        head,
        sessions.map((each) => row(...each, io)),
        io,
      ),
    );
  return exit.ok;
}

const head = ['session', 'host', 'machine', 'began', 'ended', 'commit', 'phases completed'];

function row(id: string, session: Session, io: Io): Cell[] {
  const { hostname, machine, git_commit: commit = '' } = session.environment ?? {};
  return [
    ['bold', printable(id)],
    printable(session.host ?? ''),
    printable(hostname ?? machine ?? ''),
    ['dim', ago(session.startedAt, io.now())],
    session.endedAt === undefined ? ['green', 'live'] : ['dim', ago(session.endedAt, io.now())],
    printable(commit.slice(0, 7)),
    printable(session.completed.join(', ')),
  ];
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
