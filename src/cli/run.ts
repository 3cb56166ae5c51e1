import { inspect } from 'node:util';
import { asTyped, commandName } from '../command-name.ts';
import { redactQuickly } from '../context/index.ts';
import { StepfastError } from '../errors.ts';
import { printable, printableJson, printableLines, splitNext } from '../messages/index.ts';
import { nearest } from '../suggest.ts';
import { type Command, commands, shownCommands } from './commands.ts';
import { exit, exitOf, usageError } from './exit.ts';
import { allCommands, commandHelp, overview } from './help.ts';
import type { Io } from './io.ts';
import { paint } from './paint.ts';
import { version } from './version.ts';

/** Runs one command line and returns its exit status. Never throws for what a user can cause. */
export async function run(argv: readonly string[], io: Io): Promise<number> {
  const [first, ...rest] = argv;
  try {
    if (first === undefined) {
      const { runsHere } = await import('./here.ts');
      return print(io, [await runsHere(io), overview(io)].filter(Boolean).join('\n'));
    }
    if (first === '--version' || first === '-v') return print(io, `${version()}\n`);
    if (first === 'help' || asksForHelp([first])) {
      if (has(rest, '--all')) return print(io, allCommands(io));
      return print(io, rest[0] === undefined ? overview(io) : commandHelp(find(rest[0]), io));
    }
    // Shell completions: it imports the table of commands, so it cannot be part of it.
    if (first === 'complete') return await (await import('./setup/complete.ts')).run(rest, io);
    const command = find(first);
    if (asksForHelp(rest)) return print(io, commandHelp(command, io));
    return await (await command.load()).run(rest, io);
  } catch (error) {
    return fail(error, argv, io);
  }
}

function print(io: Io, text: string): number {
  io.stdout.write(text);
  return exit.ok;
}

function find(name: string): Command {
  const command = commands.find((one) => one.name === name);
  if (command) return command;
  const meant = nearest(
    name.replace(/^-+/, ''),
    shownCommands.map((one) => one.name),
  );
  throw usageError(
    `There is no command '${name}'.${meant === undefined ? ` See: ${commandName()} help --all` : ` Did you mean: ${commandName()} ${meant}`}`,
  );
}

const asksForHelp = (args: readonly string[]): boolean => has(args, '--help') || has(args, '-h');

function has(args: readonly string[], flag: string): boolean {
  const end = args.indexOf('--');
  return (end === -1 ? args : args.slice(0, end)).includes(flag);
}

/** The person gave up at a prompt: not an error. */
const isDeclined = (error: unknown): boolean => error instanceof StepfastError && error.code === 'declined';

function fail(error: unknown, argv: readonly string[], io: Io): number {
  const code = exitOf(error);
  const [name] = argv;
  // An unexpected error is shown with its stack.
  const [message, next] =
    error instanceof StepfastError
      ? splitNext(redactQuickly(error.message))
      : [redactQuickly(inspect(error))];
  if (has(argv, '--json') && error instanceof StepfastError) {
    io.stdout.write(`${printableJson(JSON.stringify({ code: error.code, message, next }, undefined, 2))}\n`);
    return code;
  }
  const label = isDeclined(error) ? '' : `${paint(io.stderr, ['red', 'bold'], 'error')} `;
  io.stderr.write(`${label}${printableLines(message).join('\n')}\n`);
  if (next !== undefined) io.stderr.write(`${paint(io.stderr, 'dim', 'next')}  ${printable(next)}\n`);
  const usage = commands.find((one) => one.name === name)?.usage;
  if (code === exit.usage && usage !== undefined) io.stderr.write(`Usage: ${asTyped(usage)}\n`);
  return code;
}
