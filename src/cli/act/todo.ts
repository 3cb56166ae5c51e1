import { commandName } from '../../command-name.ts';
import { printable, printableLines } from '../../messages/index.ts';
import { isRefused } from '../../runtime/index.ts';
import { readArgs } from '../args.ts';
import { callerOf, readerOf } from '../caller.ts';
import { exit } from '../exit.ts';
import type { Io } from '../io.ts';
import { paint } from '../paint.ts';
import { printAnswer, printJson, printRefusal } from '../perform.ts';
import { openRuntime, runOptions } from '../run-options.ts';
import { readText } from './read-text.ts';

export const options = runOptions;

export async function run(args: readonly string[], io: Io): Promise<number> {
  const { values, positionals } = readArgs(args, options, { max: 1 });
  const runtime = openRuntime(io, values);
  if (positionals.length === 0) {
    const found = await runtime.chooseRun({ run: values.run });
    if ('code' in found) return printRefusal(found, io, values);
    const view = await runtime.engine.view(found.run);
    const todo = view?.state.todo;
    const content =
      view && todo !== undefined
        ? (runtime.workspace.readTodo(view, readerOf(io)) ?? (await runtime.engine.text(found.run, todo)))
        : undefined;
    if (values.json) return printJson(io, { run: found.run, content: content ?? null }, exit.ok);
    if (content === undefined)
      io.stderr.write(`No to-do list yet. Create one: ${commandName()} todo "- [ ] first item"\n`);
    else {
      // A pipe or file gets the exact text, a terminal gets it without control characters.
      const shown = io.stdout.columns === undefined ? content : printableLines(content).join('\n');
      io.stdout.write(shown.endsWith('\n') ? shown : `${shown}\n`);
    }
    return exit.ok;
  }
  const content = await readText(positionals[0], io);
  const answer = await runtime.call({ type: 'todo', content }, callerOf(io), { run: values.run });
  if (isRefused(answer.reply)) return await printAnswer(answer, io, values, runtime);
  const { run, warning } = answer;
  if (values.json) return printJson(io, { run, content, warning }, exit.ok);
  if (warning === undefined) io.stdout.write('To-do list saved.\n');
  else io.stderr.write(`${paint(io.stderr, 'yellow', 'note')}  ${printable(warning)}\n`);
  return exit.ok;
}
