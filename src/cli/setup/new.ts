import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { commandName } from '../../command-name.ts';
import { listWorkflows } from '../../definition/index.ts';
import type { RefusalText } from '../../messages/index.ts';
import { nearest } from '../../suggest.ts';
import { requireOwnFolders } from '../../workspace/index.ts';
import { readArgs } from '../args.ts';
import { exit, usageError } from '../exit.ts';
import type { Io } from '../io.ts';
import { paint } from '../paint.ts';
import { printJson, printRefusal } from '../perform.ts';
import { openRuntime, projectOptions } from '../run-options.ts';
import { version } from '../version.ts';
import { commandRows } from '../view/command-rows.ts';
import { symbolsFor } from '../view/symbols.ts';
import { yamlText } from './project-files.ts';
import { publishedSchema, schemaIn, schemaLine } from './schema-line.ts';
import { findTestCommands } from './test-command.ts';

export const options = { ...projectOptions, from: { type: 'string' } } as const;

/** One step with a check at the end of a turn: the simplest one. */
const simplest = 'go';

export function run(args: readonly string[], io: Io): number {
  const { values, positionals } = readArgs(args, options, { min: 1, max: 1, what: 'name' });
  const [name = ''] = positionals;
  if (!/^[a-z0-9][a-z0-9_-]*$/.test(name))
    throw usageError(`'${name}' is not a workflow name: use lower-case letters, digits and hyphens.`);
  const runtime = openRuntime(io, values);
  const root = runtime.project.worktree;
  const bundled = listWorkflows(runtime.searchPath.filter(({ kind }) => kind === 'bundled'));
  const from = values.from ?? simplest;
  const source = bundled.find((each) => each.name === from);
  if (!source) {
    const names = bundled.map((each) => each.name);
    const meant = nearest(from, names);
    const hint = meant === undefined ? `Use one of: ${names.join(', ')}.` : `Did you mean '${meant}'?`;
    throw usageError(`There is no bundled workflow '${from}'. ${hint}`);
  }
  const own = listWorkflows(runtime.searchPath.filter(({ kind }) => kind === 'project'));
  const file = join(root, '.stepfast', 'workflows', `${name}.yaml`);
  const taken = own.find((each) => each.name === name)?.file ?? (existsSync(file) ? file : undefined);
  if (taken !== undefined) return printRefusal(exists(name, relative(root, taken)), io, values);
  requireOwnFolders({ ...runtime.project, root, directory: join(root, '.stepfast') }, ['workflows']);
  const schema = schemaIn(root) ?? publishedSchema(version());
  mkdirSync(dirname(file), { recursive: true });
  const text = scaffold(readFileSync(source.file, 'utf8'), name, schema);
  const [tested] = findTestCommands(root);
  writeFileSync(file, from === simplest ? withGate(text, tested?.command) : text, { flag: 'wx' });
  const shown = relative(root, file);
  if (values.json) return printJson(io, { workflow: name, from, file: shown }, exit.ok);
  const rows: [string, string][] = [
    [`${commandName()} validate ${name}`, 'check it after every edit'],
    [`${commandName()} trust ${name}`, 'allow the commands that it runs'],
    [`/stepfast:start ${name} add a page`, 'start a run in Claude Code'],
    [`${commandName()} start ${name}`, 'start a run in a shell'],
  ];
  io.stdout.write(
    `${paint(io.stdout, 'green', symbolsFor(io).done)} ${shown}, a copy of the bundled workflow '${from}'. Edit it, then:\n\n${commandRows(
      rows,
      io.stdout,
    )
      .map((row) => `  ${row}\n`)
      .join('')}`,
  );
  return exit.ok;
}

/** The bundled workflow under another name, without the comments about itself. */
export function scaffold(bundled: string, name: string, schema: string): string {
  const body = bundled.replace(/^(?:#.*\n|\s*\n)+/, '');
  return `${schemaLine(schema)}\n${body.replace(/^name: .*$/m, `name: ${name}`)}`;
}

/** Only the project knows how it is tested. */
function withGate(text: string, command: string | undefined): string {
  const gate = `    gate:\n      - run: ${yamlText(command ?? 'npm test')}\n`;
  const shown =
    command === undefined
      ? `    # No test command was found. Until there is one here, nothing is verified:\n${gate.replaceAll(/^ {4}/gm, '    # ')}`
      : gate;
  return text.replace(/^( {2}- id: do\n {4}type: action\n)/m, `$1${shown}`);
}

const exists = (name: string, file: string): RefusalText => ({
  code: 'workflow_exists',
  message: `The workflow '${name}' exists already: ${file}`,
  next: `Edit that file, or choose another name: ${commandName()} new <name>`,
});
