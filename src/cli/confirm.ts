import { printable } from '../messages/index.ts';
import { exit } from './exit.ts';
import type { Io } from './io.ts';
import { paint } from './paint.ts';
import { printJson } from './perform.ts';

/** Asks a person to type a word, so that no stray key decides. Prompts go to stderr: stdout is for the result. */
export async function confirmByTyping(io: Io, word: string, purpose: string): Promise<boolean> {
  const line = await prompt(io, `\nType ${paint(io.stderr, 'bold', printable(word))} to ${purpose}: `);
  return confirmed(io, line.trim() === word);
}

/** Yes or no, no by default: for what can be undone. */
export async function confirmYesNo(io: Io, question: string): Promise<boolean> {
  return confirmed(io, /^\s*y(es)?\s*$/i.test(await prompt(io, `${question} [y/N] `)));
}

/** The result of a command that a person did not confirm. */
export function printDeclined(io: Io, values: { json?: boolean | undefined }): number {
  if (!values.json) return exit.no;
  return printJson(io, { code: 'declined', message: 'Nothing was changed.', next: 'nothing' }, exit.no);
}

async function prompt(io: Io, text: string): Promise<string> {
  io.stderr.write(text);
  const line = await io.stdin.line();
  if (line === undefined) io.stderr.write('\n');
  return line ?? '';
}

function confirmed(io: Io, yes: boolean): boolean {
  if (!yes) io.stderr.write('Nothing was changed.\n');
  return yes;
}
