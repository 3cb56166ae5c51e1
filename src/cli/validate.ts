import { join, resolve } from 'node:path';
import { commandName } from '../command-name.ts';
import { type Diagnostic, listWorkflows, readWorkflowFile } from '../definition/index.ts';
import type { Definition } from '../machine/index.ts';
import { count, printable, unusedAgentKeysText, wrap } from '../messages/index.ts';
import { readArgs } from './args.ts';
import { exit } from './exit.ts';
import { type Io, wrapWidth } from './io.ts';
import { paint, renderLine, type Span } from './paint.ts';
import { findWorkflowFile, type Loaded, load, projectRoot, searchPath, shown } from './project.ts';
import { frameLines, frameOf } from './source-frame.ts';

interface Checked extends Loaded {
  file: string;
  errors: number;
  warnings: number;
  /** What the author may want to know about a valid file. */
  notes: string[];
}

export function run(args: readonly string[], io: Io): number {
  const { values, positionals } = readArgs(args, { json: { type: 'boolean' } });
  const path = searchPath(io);
  const files =
    positionals.length > 0
      ? positionals.map((name) => findWorkflowFile(name, path, io))
      : listWorkflows(path.filter(({ kind }) => kind === 'project')).map(({ file }) => file);
  const checked = [...new Set(files.map((file) => resolve(file)))].map((file) =>
    check(load(file, path), file),
  );

  if (values.json) io.stdout.write(`${JSON.stringify(asJson(checked, io), undefined, 2)}\n`);
  else if (checked.length === 0) io.stderr.write(nothingThere(io));
  else io.stdout.write(report(checked, io));

  // Nothing was checked, so it must not look like success.
  if (checked.length === 0) return exit.notFound;
  return checked.some(({ errors }) => errors > 0) ? exit.no : exit.ok;
}

function check(loaded: Loaded, file: string): Checked {
  const errors = loaded.diagnostics.filter(({ severity }) => severity === 'error').length;
  const notes = loaded.definition ? notesOn(loaded.definition) : [];
  return { ...loaded, file, errors, warnings: loaded.diagnostics.length - errors, notes };
}

function notesOn({ agents = {} }: Definition): string[] {
  const keys = ['model', 'permissions'] as const;
  const named = Object.entries(agents).filter(([, agent]) => keys.some((key) => agent[key] !== undefined));
  const used = keys.filter((key) => named.some(([, agent]) => agent[key] !== undefined));
  return used.length === 0
    ? []
    : [
        unusedAgentKeysText(
          used,
          named.map(([id]) => id),
        ),
      ];
}

function nothingThere(io: Io): string {
  const directory = shown(join(projectRoot(io.cwd), '.stepfast', 'workflows'), io);
  return `No workflows in ${directory}.\nAdd a YAML file there, or pass one: ${commandName()} validate path/to/workflow.yaml\n`;
}

function report(checked: readonly Checked[], io: Io): string {
  const lines = checked.flatMap((one) => [
    ...(one.diagnostics.length > 0 && one !== checked[0] ? [''] : []),
    headline(one, io),
    ...one.notes.map((note) => `  ${paint(io.stdout, 'cyan', 'note')}  ${printable(note)}`),
    ...one.diagnostics.flatMap((diagnostic) => ['', ...diagnosticLines(diagnostic, one.file, io)]),
    ...(one.diagnostics.length > 0 && one !== checked.at(-1) ? [''] : []),
  ]);
  const separated = lines.filter((line, index) => line !== '' || lines[index - 1] !== '');
  return `${[...separated, '', summary(checked, io)].join('\n')}\n`;
}

function headline(one: Checked, io: Io): string {
  const [yes, no, dot] = io.unicode ? ['✓', '✗', ' · '] : ['ok', 'x', ', '];
  const file = shown(one.file, io);
  if (!one.definition) {
    return renderLine(
      [['red', no], ' ', ['bold', printable(file)], ['dim', `  ${tally(one.errors, one.warnings)}`]],
      io.stdout,
    );
  }
  const { name, steps } = one.definition;
  const facts = [one.base ? 'a base without steps' : count(steps.length, 'step'), shortHash(one.hash)];
  const warned: Span[] = one.warnings > 0 ? [['yellow', `  ${count(one.warnings, 'warning')}`]] : [];
  return renderLine(
    [
      ['green', yes],
      ' ',
      ['bold', printable(name)],
      ['dim', `  ${[...facts, printable(file)].join(dot)}`],
      ...warned,
    ],
    io.stdout,
  );
}

function diagnosticLines(diagnostic: Diagnostic, mainFile: string, io: Io): string[] {
  const { severity, line, column } = diagnostic;
  const look = severity === 'error' ? 'red' : 'yellow';
  const location = `${diagnostic.file === mainFile ? '' : `${printable(shown(diagnostic.file, io))}:`}${line}:${column}`;
  const bar = io.unicode ? '│' : '|';
  const message = wrap(
    printable(diagnostic.message),
    wrapWidth(io.stdout) - severity.length - location.length - 5,
  );
  const indent = ' '.repeat(severity.length + location.length + 5);
  const frame = frameOf(lineOf(diagnostic.file, line), column, (io.stdout.columns ?? 160) - 8);
  const help = wrap(printable(diagnostic.suggestion ?? ''), wrapWidth(io.stdout) - 14);
  return [
    ...message.map((text, index) =>
      index === 0
        ? `  ${paint(io.stdout, [look, 'bold'], severity)} ${paint(io.stdout, 'cyan', location)}  ${paint(io.stdout, 'bold', text)}`
        : indent + paint(io.stdout, 'bold', text),
    ),
    ...(frame ? frameLines(frame, line, bar, look).map((spans) => renderLine(spans, io.stdout)) : []),
    ...help.map((text, index) =>
      index === 0 ? `        ${paint(io.stdout, 'green', 'help:')} ${text}` : `              ${text}`,
    ),
  ];
}

let last: { file: string; lines: string[] } | undefined;

/** Reads the file as the loader does, so a pipe or a device never blocks. */
function lineOf(file: string, line: number): string {
  if (last?.file !== file) {
    const read = readWorkflowFile(file);
    last = { file, lines: read.ok ? read.text.split(/\r?\n/) : [] };
  }
  return last.lines[line - 1] ?? '';
}

function summary(checked: readonly Checked[], io: Io): string {
  const invalid = checked.filter(({ errors }) => errors > 0).length;
  const errors = checked.reduce((sum, one) => sum + one.errors, 0);
  const warnings = checked.reduce((sum, one) => sum + one.warnings, 0);
  const verdict = [
    ...(invalid < checked.length ? [paint(io.stdout, 'green', `${checked.length - invalid} valid`)] : []),
    ...(invalid > 0 ? [paint(io.stdout, 'red', `${invalid} invalid`)] : []),
  ].join(', ');
  const counts = tally(errors, warnings);
  return `${count(checked.length, 'file')}: ${verdict}${counts === '' ? '' : ` (${counts})`}`;
}

const tally = (errors: number, warnings: number): string =>
  [
    ...(errors > 0 ? [count(errors, 'error')] : []),
    ...(warnings > 0 ? [count(warnings, 'warning')] : []),
  ].join(', ');

const shortHash = (hash = ''): string => hash.replace(/^sha256:/, '').slice(0, 8);

function asJson(checked: readonly Checked[], io: Io): object {
  return {
    valid: checked.length > 0 && checked.every(({ errors }) => errors === 0),
    errors: checked.reduce((sum, one) => sum + one.errors, 0),
    warnings: checked.reduce((sum, one) => sum + one.warnings, 0),
    files: checked.map((one) => ({
      file: shown(one.file, io),
      valid: one.errors === 0,
      name: one.definition?.name ?? null,
      base: one.base,
      steps: one.definition?.steps.length ?? null,
      hash: one.hash ?? null,
      notes: one.notes,
      diagnostics: one.diagnostics.map(({ severity, code, file, line, column, message, suggestion }) => ({
        severity,
        code,
        file: shown(file, io),
        line,
        column,
        message,
        suggestion: suggestion ?? null,
      })),
    })),
  };
}
