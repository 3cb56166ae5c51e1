import { asTyped, commandName } from '../command-name.ts';
import { wrap } from '../messages/index.ts';
import { type Command, groups, shownCommands } from './commands.ts';
import { exit } from './exit.ts';
import { type Io, wrapWidth } from './io.ts';
import { paint } from './paint.ts';

/** The commands of every day, in the order in which they are needed. */
export const everyDay = ['init', 'go', 'status', 'approve', 'reject', 'answer', 'cancel', 'log', 'new'];

export function overview(io: Io): string {
  const bold = (text: string): string => paint(io.stdout, 'bold', text);
  const rows = everyDay.flatMap((name) => shownCommands.filter((command) => command.name === name));
  return [
    `${bold('Usage')}  ${commandName()} <command> [options]`,
    '',
    ...table(
      rows.map(({ name, summary }) => [name, summary]),
      io,
    ),
    '',
    `More: ${commandName()} help <command>, ${commandName()} help --all`,
    '',
  ].join('\n');
}

export function allCommands(io: Io): string {
  const bold = (text: string): string => paint(io.stdout, 'bold', text);
  const width = Math.max(...shownCommands.map(({ name }) => name.length));
  return [
    `${bold('stepfast')} keeps long work by coding agents on course.`,
    '',
    `${bold('Usage')}  ${commandName()} <command> [options]`,
    '',
    ...groups.flatMap((group) => [bold(group), ...table(rowsOf(group), io, width), '']),
    bold('Options'),
    ...table(
      [
        ['-h, --help', 'Show help, also after a command'],
        ['-v, --version', 'Print the version'],
      ],
      io,
    ),
    '',
    bold('Exit status'),
    ...table(
      [
        [String(exit.ok), 'It worked, and the answer is yes'],
        [String(exit.no), 'It worked, and the answer is no: refused, red or invalid'],
        [String(exit.usage), 'The command line is wrong'],
        [String(exit.notFound), 'A workflow, run or file does not exist or cannot be read'],
        [String(exit.pending), 'No answer yet: the gates are still running'],
        [String(exit.differs), 'verify --run: the checkout differs from what the run proved'],
        [String(exit.internal), 'Stepfast itself failed'],
      ],
      io,
    ),
    '',
  ].join('\n');
}

const rowsOf = (group: Command['group']): [string, string][] =>
  shownCommands.filter((command) => command.group === group).map(({ name, summary }) => [name, summary]);

export function commandHelp(command: Command, io: Io): string {
  const bold = (text: string): string => paint(io.stdout, 'bold', text);
  return [
    ...wrap(asTyped(command.about), wrapWidth(io.stdout)),
    '',
    `${bold('Usage')}  ${asTyped(command.usage)}`,
    '',
    bold('Options'),
    ...table([...command.options, ['-h, --help', 'Show this help']], io),
    '',
    bold(command.examples.length === 1 ? 'Example' : 'Examples'),
    ...command.examples.map((example) => `  ${asTyped(example)}`),
    '',
  ].join('\n');
}

function table(rows: readonly (readonly [string, string])[], io: Io, widest = 0): string[] {
  const width = Math.max(widest, ...rows.map(([left]) => left.length)) + 4;
  return rows.flatMap(([left, right]) =>
    wrap(right, wrapWidth(io.stdout) - width).map((line, index) =>
      index === 0
        ? `  ${paint(io.stdout, 'cyan', left)}${' '.repeat(width - 2 - left.length)}${line}`
        : ' '.repeat(width) + line,
    ),
  );
}
