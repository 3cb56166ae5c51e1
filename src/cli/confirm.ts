import { printable } from '../messages/index.ts';
import type { Io } from './io.ts';
import { paint } from './paint.ts';

/** A person types a word, so that no stray key decides. Questions go to stderr: stdout is for the answer. */
export async function typed(io: Io, word: string, purpose: string): Promise<boolean> {
  io.stderr.write(`\nType ${paint(io.stderr, 'bold', printable(word))} to ${purpose}: `);
  const line = await io.stdin.line();
  if (line === undefined) io.stderr.write('\n');
  const yes = line?.trim() === word;
  if (!yes) io.stderr.write('Nothing was changed.\n');
  return yes;
}

/** Yes or no, no by default: for what can be undone. */
export async function agreed(io: Io, question: string): Promise<boolean> {
  io.stderr.write(`${question} [y/N] `);
  const line = await io.stdin.line();
  if (line === undefined) io.stderr.write('\n');
  const yes = /^y(es)?$/i.test(line?.trim() ?? '');
  if (!yes) io.stderr.write('Nothing was changed.\n');
  return yes;
}
