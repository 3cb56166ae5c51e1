import { printableLines } from '../../messages/index.ts';
import { isRefused } from '../../runtime/index.ts';
import { readArgs } from '../args.ts';
import { callerOf } from '../caller.ts';
import { exit } from '../exit.ts';
import type { Io } from '../io.ts';
import { printAnswer, printJson, printRefusal } from '../perform.ts';
import { given, openRuntime, runOptions } from '../run-options.ts';
import { readText } from './read-text.ts';

export const options = runOptions;

export async function run(args: readonly string[], io: Io): Promise<number> {
  const { values, positionals } = readArgs(args, options, { max: 1 });
  const runtime = openRuntime(io, values);
  if (positionals.length === 0) {
    const found = await runtime.chooseRun({ run: values.run });
    if ('code' in found) return printRefusal(found, io, values);
    const todo = (await runtime.engine.view(found.run))?.state.todo;
    const content = todo === undefined ? undefined : await runtime.engine.text(found.run, todo);
    if (values.json) return printJson(io, { run: found.run, content: content ?? null }, exit.ok);
    if (content === undefined)
      io.stderr.write('There is no to-do list yet. Write one: stepfast todo "- [ ] first point"\n');
    else {
      // A file gets what was written, a terminal what is safe.
      const shown = io.stdout.columns === undefined ? content : printableLines(content).join('\n');
      io.stdout.write(shown.endsWith('\n') ? shown : `${shown}\n`);
    }
    return exit.ok;
  }
  const content = await readText(positionals[0], io);
  const answer = await runtime.call({ type: 'todo', content }, callerOf(io), given({ run: values.run }));
  if (isRefused(answer.reply)) return await printAnswer(answer, io, values, runtime);
  if (values.json) return printJson(io, { run: answer.run, content }, exit.ok);
  io.stdout.write('The to-do list is kept.\n');
  return exit.ok;
}
