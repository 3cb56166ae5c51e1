import { commandName } from '../../command-name.ts';
import type { RefusalText } from '../../messages/index.ts';
import { printable } from '../../messages/index.ts';
import { readText } from '../act/read-text.ts';
import { readArgs } from '../args.ts';
import { person, personOnly } from '../caller.ts';
import { confirm, printDeclined } from '../confirm.ts';
import type { Io } from '../io.ts';
import { perform, printRefusal } from '../perform.ts';
import { suffixOf, withTarget } from '../run-name.ts';
import { openRuntime, runOptions } from '../run-options.ts';

export const options = { ...runOptions, question: { type: 'string' } } as const;

export async function run(args: readonly string[], io: Io): Promise<number> {
  const { values, positionals } = readArgs(args, options, { min: 1, max: 1, what: 'answer' });
  const refused = personOnly(
    io,
    'answer a question',
    withTarget(`${commandName()} answer "your answer"`, values),
  );
  if (refused) return printRefusal(refused, io, values);
  const text = await readText(positionals[0], io);
  const runtime = openRuntime(io, values);
  const found = await runtime.chooseRun({ run: values.run });
  if ('code' in found) return printRefusal(found, io, values);
  const open = (await runtime.engine.view(found.run))?.state.questions.filter(
    ({ answer }) => answer === undefined,
  );
  const meant = open?.filter(({ id }) => values.question === undefined || id === values.question) ?? [];
  const [question, second] = meant;
  if (!question || second) return printRefusal(whichQuestion(meant, found.run), io, values);
  io.stderr.write(
    `Question ${question.id}\n  ${printable(question.text)}\nYour answer\n  ${printable(text)}\n`,
  );
  if (!(await confirm(io, '\nSend this answer?'))) return printDeclined(io, values);
  const request = { type: 'answer' as const, text, question: question.id };
  return await perform(io, values, request, { runtime, who: person(io), run: found.run });
}

function whichQuestion(open: readonly { id: string; text: string }[], run: string): RefusalText {
  if (open.length === 0)
    return {
      code: 'no_question',
      message: 'No such question is open.',
      next: `See: ${commandName()} status ${suffixOf(run)}`,
    };
  const list = open.map(({ id, text }) => `${id}: ${text}`).join('; ');
  return {
    code: 'no_question',
    message: `${open.length} questions are open: ${list}.`,
    next: 'Choose one with --question <id>.',
  };
}
