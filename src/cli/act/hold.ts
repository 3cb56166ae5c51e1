import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { commandName } from '../../command-name.ts';
import { hooksFolder } from '../../hooks/index.ts';
import { ago, lasting, printable } from '../../messages/index.ts';
import { createHolds, type Hold, type Holds } from '../../runtime/index.ts';
import { findProject, requireOwnFolders, stateDirectory } from '../../workspace/index.ts';
import { readArgs } from '../args.ts';
import { personOnly } from '../caller.ts';
import { confirm, printDeclined } from '../confirm.ts';
import { exit, usageError } from '../exit.ts';
import type { Io } from '../io.ts';
import { paint, printWrapped } from '../paint.ts';
import { printJson, printRefusal } from '../perform.ts';
import { projectOptions } from '../run-options.ts';

export const options = { ...projectOptions, off: { type: 'boolean' } } as const;

export async function run(args: readonly string[], io: Io): Promise<number> {
  const { values, positionals } = readArgs(args, options);
  const command = positionals[0]?.trim();
  if (positionals.length > 1)
    throw usageError(
      `The command is one argument: ${commandName()} hold ${JSON.stringify(positionals.join(' '))}`,
    );
  if (command !== undefined && values.off) throw usageError('--off takes no command.');
  if (command === '') throw usageError(`The command is empty. For example: ${commandName()} hold "npm test"`);
  const { 'repo-root': repoRoot, worktree } = values;
  const project = findProject(io.cwd, { repoRoot, worktree });
  const holds = createHolds(project, stateDirectory({ env: io.env, home: io.home }));
  if (command === undefined && !values.off) return show(holds, io, values);
  const shown = values.off
    ? `${commandName()} hold --off`
    : `${commandName()} hold ${JSON.stringify(command)}`;
  const refused = personOnly(io, 'set or remove a hold', shown);
  if (refused) return printRefusal(refused, io, values);
  if (command === undefined) return remove(holds, io, values);
  // The hold writes its mark there.
  requireOwnFolders(project, ['sessions/marks']);
  io.stderr.write(
    `When an agent's session in ${printable(project.worktree)} is about to stop, Stepfast runs:\n\n  ${paint(io.stderr, 'bold', printable(command))}\n\n`,
  );
  printWrapped(
    'While it fails, the session continues with its output: once per turn, at most three times. Once it passes, the session can stop.',
    io.stderr,
  );
  if (!(await confirm(io, '\nSet this for 24 hours?'))) return printDeclined(io, values);
  const hold = holds.set(command, io.now());
  if (values.json) return printJson(io, { hold: holdJson(hold) }, exit.ok);
  printWrapped(
    `Sessions here cannot stop until '${printable(command)}' passes. To remove the hold: ${commandName()} hold --off`,
    io.stdout,
  );
  if (!existsSync(hooksFolder(project)))
    io.stderr.write(
      `A hold needs the hooks, and none has run in this project yet. Set them up: ${commandName()} init\n`,
    );
  return exit.ok;
}

type Values = { json?: boolean | undefined };

function show(holds: Holds, io: Io, values: Values): number {
  const now = io.now();
  const hold = holds.get(now);
  if (values.json) {
    const last = hold && holds.last;
    const more = last && { last: { verdict: last.verdict, at: new Date(last.now).toISOString() } };
    return printJson(io, { hold: hold ? { ...holdJson(hold), ...more } : null }, exit.ok);
  }
  if (!hold) {
    io.stderr.write(`No hold is set here. Set one: ${commandName()} hold "npm test"\n`);
    return exit.ok;
  }
  const { last } = holds;
  const label = (word: string, text: string): string => `${paint(io.stdout, 'dim', word.padEnd(8))}${text}\n`;
  const left = hold.until - now;
  const hours = left < 3_600_000 ? 'less than an hour' : `${Math.floor(left / 3_600_000)} h`;
  io.stdout.write(
    label('command', paint(io.stdout, 'bold', printable(hold.command))) +
      label('set', `${ago(hold.since, now)}, ${hours} left; to remove it: ${commandName()} hold --off`) +
      label('last', last ? lastResult(last, io) : 'no session has tried to stop yet') +
      (last ? label('output', printable(join(holds.folder, 'output.log'))) : ''),
  );
  return exit.ok;
}

function lastResult({ verdict, now, ms }: NonNullable<Holds['last']>, io: Io): string {
  const look = { green: 'green', red: 'red', unfinished: 'yellow' } as const;
  const took = ms > 0 ? ` after ${lasting(ms)}` : '';
  const words = verdict === 'unfinished' ? `timed out${took}, so the stop was allowed` : `${verdict}${took}`;
  return `${paint(io.stdout, look[verdict], words)}, ${ago(now, io.now())}`;
}

function remove(holds: Holds, io: Io, values: Values): number {
  const hold = holds.get(io.now());
  holds.drop();
  if (values.json) return printJson(io, { hold: null, lifted: hold ? holdJson(hold) : null }, exit.ok);
  if (hold) io.stdout.write('Hold removed.\n');
  else io.stderr.write('No hold is set here.\n');
  return exit.ok;
}

const holdJson = ({ command, worktree, since, until }: Hold): object => ({
  command,
  worktree,
  since: new Date(since).toISOString(),
  until: new Date(until).toISOString(),
});
