import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { listWorkflows } from '../../definition/index.ts';
import { commandsOf, type Runtime } from '../../runtime/index.ts';
import { readArgs } from '../args.ts';
import { agreed } from '../confirm.ts';
import { declined } from '../decide/verdict.ts';
import { exit, notFound } from '../exit.ts';
import type { Io } from '../io.ts';
import { paint } from '../paint.ts';
import { printJson, printRefusal } from '../perform.ts';
import { openRuntime, placeOptions } from '../run-options.ts';
import { count, printable } from '../text.ts';
import { signsFor } from '../view/signs.ts';
import { projectFiles } from './project-files.ts';
import { findTestCommands } from './test-command.ts';

export const options = { ...placeOptions, yes: { type: 'boolean', short: 'y' } } as const;

interface Plan {
  write: { file: string; text: string }[];
  keep: string[];
}

export async function run(args: readonly string[], io: Io): Promise<number> {
  const { values } = readArgs(args, options, { max: 0 });
  const runtime = openRuntime(io, values);
  const root = runtime.project.worktree;
  const tests = findTestCommands(root);
  const plan = planFor(runtime, projectFiles(tests, schemaIn(root)));
  const shown = (file: string): string => relative(root, file);
  const report = { root, test: tests[0] ?? null, kept: plan.keep.map(shown) };
  if (plan.write.length === 0) {
    if (values.json) return printJson(io, { ...report, written: [] }, exit.ok);
    io.stdout.write(`Everything is here already: ${plan.keep.map(shown).join(', ')}\n`);
    return exit.ok;
  }
  if (!values.json) show(plan, root, io);
  const names = plan.write.map(({ file }) => shown(file));
  if (!values.yes && !io.stdin.terminal) {
    const message = `${count(names.length, 'file')} would be written: ${names.join(', ')}`;
    return printRefusal(
      { code: 'not_confirmed', message, next: 'say it with --yes: stepfast init --yes' },
      io,
      values,
    );
  }
  if (!values.yes && !(await agreed(io, `Write ${count(names.length, 'file')}?`)))
    return declined(io, values);
  for (const { file, text } of plan.write) write(file, text);
  const trusted = trustOwn(plan, io, values);
  if (values.json) return printJson(io, { ...report, written: names, trusted }, exit.ok);
  done(names, tests[0]?.command, io);
  return exit.ok;
}

/** Nothing that is there is overwritten, nor hidden by a second workflow of its name. */
function planFor({ project, searchPath }: Runtime, files: Record<string, string>): Plan {
  const plan: Plan = { write: [], keep: [] };
  const own = searchPath.filter(({ kind }) => kind === 'project');
  const go = listWorkflows(own).find(({ name }) => name === 'go')?.file;
  for (const [name, text] of Object.entries(files)) {
    const file = join(project.worktree, '.stepfast', ...name.split('/'));
    const there = name.startsWith('workflows/') && go !== undefined ? go : file;
    if (existsSync(there)) plan.keep.push(there);
    else plan.write.push({ file, text });
  }
  return plan;
}

/** For editors, where the package is installed in the project. */
function schemaIn(root: string): string | undefined {
  const schema = 'node_modules/stepfast/schema/workflow.schema.json';
  return existsSync(join(root, schema)) ? `../../${schema}` : undefined;
}

function show({ write: files, keep }: Plan, root: string, io: Io): void {
  const out = (text: string): void => io.stderr.write(`${text}\n`);
  for (const { file, text } of files) {
    out(`${paint(io.stderr, 'green', '+')} ${paint(io.stderr, 'bold', relative(root, file))}`);
    for (const line of text.trimEnd().split('\n')) out(paint(io.stderr, 'dim', `    ${line}`.trimEnd()));
    out('');
  }
  for (const file of keep) out(`${paint(io.stderr, 'dim', '=')} ${relative(root, file)}  stays as it is`);
  if (keep.length > 0) out('');
}

function write(file: string, text: string): void {
  try {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text, { flag: 'wx' });
  } catch (cause) {
    throw notFound(`${file} cannot be written: ${cause instanceof Error ? cause.message : cause}`, cause);
  }
}

/** Only a workflow that was written just now, and only as it was written. */
function trustOwn({ write: files }: Plan, io: Io, values: Parameters<typeof openRuntime>[1]): string | null {
  const runtime = openRuntime(io, values);
  const { definition, hash, file } = runtime.resolve('go');
  const ours = files.some((each) => each.file === file);
  if (!ours || commandsOf(definition).length === 0) return null;
  runtime.trust.give({ hash, workflow: definition.name, now: io.now(), by: 'init' });
  return hash;
}

function done(names: readonly string[], command: string | undefined, io: Io): void {
  const { done: sign } = signsFor(io);
  const cyan = (text: string): string => paint(io.stdout, 'cyan', text);
  const checked =
    command === undefined
      ? 'No test command was found: results are labelled unverified until .stepfast/workflows/go.yaml has one.'
      : `Work counts as done when ${paint(io.stdout, 'bold', printable(command))} passes.`;
  io.stdout.write(
    `${paint(io.stdout, 'green', sign)} ${count(names.length, 'file')} written. ${checked}\n\n`,
  );
  io.stdout.write(`  ${cyan('stepfast go "fix the login bug"')}   begin a task\n`);
  io.stdout.write(`  ${cyan('stepfast status')}                   see where it stands\n`);
}
