import { readArgs } from '../args.ts';
import type { Io } from '../io.ts';
import { openRuntime, runOptions } from '../run-options.ts';
import { readInputs } from './inputs.ts';
import { startRun } from './start-run.ts';

export const options = {
  ...runOptions,
  summary: { type: 'string', short: 's' },
  input: { type: 'string', short: 'i', multiple: true },
} as const;

export async function run(args: readonly string[], io: Io): Promise<number> {
  const { values, positionals } = readArgs(args, options, {
    min: args.some((arg) => arg.startsWith('--run')) ? 0 : 1,
    max: 1,
    what: 'workflow',
  });
  const runtime = openRuntime(io, values);
  const [workflow] = positionals;
  const pairs = values.input ?? [];
  const inputs =
    workflow === undefined || pairs.length === 0
      ? undefined
      : readInputs(runtime.resolve(workflow).definition, pairs);
  const request = { workflow, summary: values.summary, inputs, run: values.run };
  return await startRun(runtime, request, io, values);
}
