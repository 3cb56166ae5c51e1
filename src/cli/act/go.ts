import { commandName } from '../../command-name.ts';
import type { Definition } from '../../machine/index.ts';
import { graphemes } from '../../messages/index.ts';
import { readArgs } from '../args.ts';
import { usageError } from '../exit.ts';
import type { Io } from '../io.ts';
import { openRuntime, projectOptions } from '../run-options.ts';
import { readText } from './read-text.ts';
import { startRun } from './start-run.ts';

export const options = projectOptions;

const longestSummary = 100;

export async function run(args: readonly string[], io: Io): Promise<number> {
  const { values, positionals } = readArgs(args, options, { min: 1, what: 'task' });
  const given = positionals.length === 1 ? await readText(positionals[0], io) : positionals.join(' ');
  const task = given.trim();
  if (task === '')
    throw usageError(`The task is empty. Describe it: ${commandName()} go "fix the login bug"`);
  const runtime = openRuntime(io, values);
  const inputs = { [inputFor(runtime.resolve('go').definition)]: task };
  return await startRun(runtime, { workflow: 'go', summary: summaryOf(task), inputs }, io, values);
}

/** A project's own `go` may name its input differently. */
function inputFor({ inputs = {} }: Definition): string {
  const names = Object.keys(inputs);
  return Object.hasOwn(inputs, 'task') ? 'task' : (names.find((name) => inputs[name]?.required) ?? 'task');
}

function summaryOf(task: string): string {
  const first = task.split('\n', 1)[0]?.trim() ?? '';
  const letters = graphemes(first);
  return letters.length > longestSummary ? `${letters.slice(0, longestSummary - 1).join('')}…` : first;
}
