import { exit } from './exit.ts';
import type { Io } from './io.ts';
import { printJson } from './perform.ts';

/** The one kind of confirmation: yes or no, no by default. Prompts go to stderr: stdout is for the result. */
export async function confirm(io: Io, question: string): Promise<boolean> {
  const yes = /^\s*y(es)?\s*$/i.test(await prompt(io, `${question} [y/N] `));
  if (!yes) io.stderr.write('Nothing was changed.\n');
  return yes;
}

/** The result of a command that a person did not confirm. */
export function printDeclined(io: Io, values: { json?: boolean | undefined }): number {
  if (!values.json) return exit.no;
  return printJson(io, { code: 'declined', message: 'Nothing was changed.', next: 'nothing' }, exit.no);
}

/** Asks for one line. */
export async function prompt(io: Io, text: string): Promise<string> {
  io.stderr.write(text);
  const line = await io.stdin.line();
  if (line === undefined) io.stderr.write('\n');
  return line ?? '';
}
