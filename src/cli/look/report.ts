import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { printableJson } from '../../messages/index.ts';
import {
  compileReport,
  createLocalPages,
  type LocalRuntime,
  reportFile,
  reportMarkdown,
} from '../../runtime/index.ts';
import { readArgs } from '../args.ts';
import { exit, notFound, usageError } from '../exit.ts';
import type { Io } from '../io.ts';
import { printRefusal } from '../perform.ts';
import { runNamed } from '../run-name.ts';
import { openRuntime, runOptions } from '../run-options.ts';
import { saveFile } from '../save-file.ts';
import { packageRoot } from '../setup/copy-plugin.ts';
import { lastRun } from './log.ts';

type View = NonNullable<Awaited<ReturnType<LocalRuntime['engine']['view']>>>;

export const options = {
  ...runOptions,
  format: { type: 'string' },
  output: { type: 'string', short: 'o' },
} as const;

export async function run(args: readonly string[], io: Io): Promise<number> {
  const { values, positionals } = readArgs(args, options, { max: 1 });
  const format = formatOf(values);
  const named = runNamed(positionals, values);
  const runtime = openRuntime(io, values);
  const found = await lastRun(runtime, named);
  if ('code' in found) return printRefusal(found, io, { ...values, run: named });
  const view = await runtime.engine.view(found.run);
  if (!view) throw notFound(`Run '${found.run}' not found.`);
  const text = format === 'html' ? await pageOf(runtime, found.run, io) : await textOf(runtime, view, format);
  if (values.output === undefined) io.stdout.write(text);
  else saveFile(values.output, text, io);
  return exit.ok;
}

const formats = ['markdown', 'json', 'html'] as const;
type Format = (typeof formats)[number];

/** The name of the file says it, too. */
function formatOf({
  format,
  json,
  output = '',
}: {
  format?: string;
  json?: boolean;
  output?: string;
}): Format {
  if (format === undefined) return json ? 'json' : /\.html?$/i.test(output) ? 'html' : 'markdown';
  const known = formats.find((each) => each === format);
  if (known) return known;
  throw usageError(`--format must be 'markdown', 'json' or 'html', not '${format}'.`);
}

async function textOf(runtime: LocalRuntime, view: View, format: 'markdown' | 'json'): Promise<string> {
  const report = compileReport(view, await runtime.engine.entries(view.run));
  return format === 'json'
    ? `${printableJson(JSON.stringify(report, undefined, 2))}\n`
    : reportMarkdown(report);
}

/** The run's page with its data, in one file. */
async function pageOf(runtime: LocalRuntime, run: string, io: Io): Promise<string> {
  const data = await reportFile(createLocalPages(runtime), run, {
    project: basename(runtime.project.root),
    now: io.now(),
  });
  const template = readFileSync(join(packageRoot(), 'dist/report.html'), 'utf8');
  // Text of agents must not end the script that holds it.
  const json = JSON.stringify(data).replaceAll('<', String.raw`\u003c`);
  return template.replace('REPORT_DATA', () => json);
}
