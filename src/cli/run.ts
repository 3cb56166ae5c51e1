import { inspect } from 'node:util';
import { StepfastError } from '../errors.ts';
import { nearest } from '../suggest.ts';
import { type Command, commands } from './commands.ts';
import { exit, exitOf, usageError } from './exit.ts';
import { commandHelp, overview } from './help.ts';
import type { Io } from './io.ts';
import { paint } from './paint.ts';
import { printable } from './text.ts';
import { version } from './version.ts';

/** Runs one command line and answers its exit status; never throws for what a user can cause. */
export async function run(argv: readonly string[], io: Io): Promise<number> {
  const [first, ...rest] = argv;
  try {
    if (first === undefined || first === '--help' || first === '-h') return print(io, overview(io));
    if (first === '--version' || first === '-v') return print(io, `${version()}\n`);
    if (first === 'help')
      return print(io, rest[0] === undefined ? overview(io) : commandHelp(find(rest[0]), io));
    const command = find(first);
    if (asksForHelp(rest)) return print(io, commandHelp(command, io));
    return await (await command.load()).run(rest, io);
  } catch (error) {
    return fail(error, first, io);
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
    commands.map((one) => one.name),
  );
  throw usageError(
    `There is no command '${name}'.${meant === undefined ? ' See: stepfast help' : ` Did you mean: stepfast ${meant}`}`,
  );
}

function asksForHelp(args: readonly string[]): boolean {
  const end = args.indexOf('--');
  return (end === -1 ? args : args.slice(0, end)).some((arg) => arg === '--help' || arg === '-h');
}

function fail(error: unknown, name: string | undefined, io: Io): number {
  const code = exitOf(error);
  // A refusal may quote a workflow; a bug is shown with its stack.
  const message = error instanceof StepfastError ? printable(error.message) : inspect(error);
  io.stderr.write(`${paint(io.stderr, ['red', 'bold'], 'error')} ${message}\n`);
  const usage = commands.find((one) => one.name === name)?.usage;
  if (code === exit.usage && usage !== undefined) io.stderr.write(`Usage: ${usage}\n`);
  return code;
}
