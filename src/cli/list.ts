import { commandName } from '../command-name.ts';
import { type ListedWorkflow, listWorkflows } from '../definition/index.ts';
import { checkTool } from '../hosts/index.ts';
import { columnsOf, count, printable } from '../messages/index.ts';
import { readArgs } from './args.ts';
import { exit } from './exit.ts';
import type { Io } from './io.ts';
import { type Format, renderLine, type Span } from './paint.ts';
import { load, searchPath, shown } from './project.ts';

interface Row {
  name: string;
  type: string | null;
  phases: number | null;
  listed: ListedWorkflow;
  errors: number;
}

export function run(args: readonly string[], io: Io): number {
  const { values } = readArgs(args, { json: { type: 'boolean' } }, { max: 0 });
  const path = searchPath(io);
  const rows = listWorkflows(path, checkTool).map((listed): Row => {
    const { definition } = load(listed.file, path);
    const errors = listed.diagnostics.filter(({ severity }) => severity === 'error').length;
    const type = definition ? (listed.base ? 'base' : (definition.type ?? 'custom')) : null;
    return { name: listed.name, type, phases: definition?.steps.length ?? null, listed, errors };
  });
  if (values.json)
    io.stdout.write(`${JSON.stringify({ workflows: rows.map((row) => asJson(row, io)) }, undefined, 2)}\n`);
  else if (rows.length > 0) io.stdout.write(table(rows, io));
  else
    io.stderr.write(
      `No workflows found. Add a YAML file to .stepfast/workflows, then: ${commandName()} validate\n`,
    );
  return exit.ok;
}

function table(rows: readonly Row[], io: Io): string {
  const head = ['name', 'type', 'phases', 'where'];
  const none = io.unicode ? '–' : '-';
  const cells = rows.map((row) => [
    printable(row.name),
    row.type ?? (row.errors > 0 ? 'broken' : none),
    row.phases === null || row.listed.base ? none : String(row.phases),
    row.listed.from,
  ]);
  const widths = head.map((title, column) =>
    Math.max(...[head, ...cells].map((line) => columnsOf(line[column] ?? title))),
  );
  const line = (
    texts: readonly string[],
    looks: readonly (Format | undefined)[],
    last: Span,
    output = io.stdout,
  ): string => {
    const spans = texts.flatMap((text, column): Span[] => {
      const space = ' '.repeat((widths[column] ?? 0) - columnsOf(text));
      const padded = column === 2 ? space + text : text + space;
      const look = looks[column];
      return [look === undefined ? padded : [look, padded], '  '];
    });
    return `${renderLine([...spans, last], output, io.unicode ? '…' : '...')}\n`;
  };
  return [
    line(head, ['dim', 'dim', 'dim', 'dim'], ['dim', 'description']),
    // A command to type is never cut.
    ...rows.map((row, index) =>
      line(
        cells[index] ?? [],
        looksOf(row),
        lastCell(row, io),
        row.errors > 0 ? { ...io.stdout, columns: undefined } : io.stdout,
      ),
    ),
  ].join('');
}

function looksOf({ errors, listed }: Row): (Format | undefined)[] {
  if (errors > 0) return [['bold', 'red'], 'red', 'dim', 'dim'];
  if (listed.shadowedBy !== undefined) return ['dim', 'dim', 'dim', 'dim'];
  return ['bold', 'cyan', undefined, 'dim'];
}

function lastCell({ errors, listed }: Row, io: Io): Span {
  if (errors > 0)
    return ['red', `${count(errors, 'error')}: ${commandName()} validate ${quoted(shown(listed.file, io))}`];
  if (listed.shadowedBy !== undefined) return ['dim', `hidden by ${printable(shown(listed.shadowedBy, io))}`];
  return printable(listed.description ?? '');
}

/** Quoted for a shell where needed. */
function quoted(path: string): string {
  const plain = printable(path);
  return /^[\w./@:+\\-]+$/.test(plain) ? plain : `'${plain.replaceAll("'", `'\\''`)}'`;
}

function asJson({ name, type, phases, errors, listed }: Row, io: Io): object {
  return {
    name,
    description: listed.description ?? null,
    type,
    phases,
    from: listed.from,
    file: shown(listed.file, io),
    hash: listed.hash ?? null,
    base: listed.base,
    shadowed_by: listed.shadowedBy === undefined ? null : shown(listed.shadowedBy, io),
    errors,
    warnings: listed.diagnostics.length - errors,
  };
}
