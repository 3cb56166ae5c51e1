import { printableJson } from '../../messages/index.ts';
import { compileReport, reportMarkdown } from '../../runtime/index.ts';
import { readArgs } from '../args.ts';
import { exit, notFound, usageError } from '../exit.ts';
import type { Io } from '../io.ts';
import { printRefusal } from '../perform.ts';
import { runNamed } from '../run-name.ts';
import { openRuntime, runOptions } from '../run-options.ts';
import { saveFile } from '../save-file.ts';
import { lastRun } from './log.ts';

export const options = {
  ...runOptions,
  format: { type: 'string' },
  output: { type: 'string', short: 'o' },
} as const;

export async function run(args: readonly string[], io: Io): Promise<number> {
  const { values, positionals } = readArgs(args, options, { max: 1 });
  const { format = values.json ? 'json' : 'markdown' } = values;
  if (format !== 'markdown' && format !== 'json')
    throw usageError(`--format must be 'markdown' or 'json', not '${format}'.`);
  const named = runNamed(positionals, values);
  const runtime = openRuntime(io, values);
  const found = await lastRun(runtime, named);
  if ('code' in found) return printRefusal(found, io, { ...values, run: named });
  const view = await runtime.engine.view(found.run);
  if (!view) throw notFound(`Run '${found.run}' not found.`);
  const report = compileReport(view, await runtime.engine.entries(found.run));
  const text =
    format === 'json' ? `${printableJson(JSON.stringify(report, undefined, 2))}\n` : reportMarkdown(report);
  if (values.output === undefined) io.stdout.write(text);
  else saveFile(values.output, text, io);
  return exit.ok;
}
