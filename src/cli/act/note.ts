import { isRefused } from '../../runtime/index.ts';
import { type NoteKind, noteKinds } from '../../schema/index.ts';
import { nearest } from '../../suggest.ts';
import { readArgs } from '../args.ts';
import { callerOf } from '../caller.ts';
import { exit, usageError } from '../exit.ts';
import type { Io } from '../io.ts';
import { printAnswer, printJson } from '../perform.ts';
import { openRuntime, positionOptions } from '../run-options.ts';
import { readText } from './read-text.ts';

export const options = { ...positionOptions, key: { type: 'string' } } as const;

export async function run(args: readonly string[], io: Io): Promise<number> {
  const { values, positionals } = readArgs(args, options, { min: 2, max: 2, what: 'kind or text' });
  const kind = kindOf(positionals[0] ?? '');
  const text = await readText(positionals[1], io);
  const runtime = openRuntime(io, values);
  const request = { type: 'note' as const, kind, text, key: values.key, at: values.at };
  const answer = await runtime.call(request, callerOf(io), { run: values.run });
  if (isRefused(answer.reply)) return await printAnswer(answer, io, values, runtime);
  if (values.json) return printJson(io, { run: answer.run, kind, key: values.key }, exit.ok);
  io.stdout.write(`Saved as ${kind}${values.key === undefined ? '' : ` '${values.key}'`}.\n`);
  return exit.ok;
}

function kindOf(word: string): NoteKind {
  const kind = noteKinds.find((one) => one === word);
  if (kind) return kind;
  const meant = nearest(word, noteKinds);
  throw usageError(
    `There is no kind of note '${word}'. ${meant === undefined ? `Use one of: ${noteKinds.join(', ')}.` : `Did you mean '${meant}'?`}`,
  );
}
