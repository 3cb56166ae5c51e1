import type { Definition } from '../../machine/index.ts';
import { graphemes } from '../../messages/index.ts';
import { readArgs } from '../args.ts';
import { usageError } from '../exit.ts';
import type { Io } from '../io.ts';
import { openRuntime, placeOptions } from '../run-options.ts';
import { readText } from './read-text.ts';
import { begin } from './start-run.ts';

export const options = placeOptions;

const longestSummary = 100;

export async function run(args: readonly string[], io: Io): Promise<number> {
  const { values, positionals } = readArgs(args, options, { min: 1, what: 'task' });
  const given = positionals.length === 1 ? await readText(positionals[0], io) : positionals.join(' ');
  const task = given.trim();
  if (task === '') throw usageError('Say what is to be done: stepfast go "fix the login bug"');
  const runtime = openRuntime(io, values);
  const inputs = { [inputFor(runtime.resolve('go').definition)]: task };
  return await begin(runtime, { workflow: 'go', summary: summaryOf(task), inputs }, io, values);
}

/** A project's own `go` may call its input otherwise. */
function inputFor({ inputs = {} }: Definition): string {
  const names = Object.keys(inputs);
  return Object.hasOwn(inputs, 'task') ? 'task' : (names.find((name) => inputs[name]?.required) ?? 'task');
}

function summaryOf(task: string): string {
  const first = task.split('\n', 1)[0]?.trim() ?? '';
  const letters = graphemes(first);
  return letters.length > longestSummary ? `${letters.slice(0, longestSummary - 1).join('')}…` : first;
}
