import { writeFileSync } from 'node:fs';
import { extname, resolve } from 'node:path';
import { createGraph, type Graph } from '../runtime/index.ts';
import { nearest } from '../suggest.ts';
import { readArgs } from './args.ts';
import { exit, notFound, usageError } from './exit.ts';
import type { Io, Output } from './io.ts';
import { definitionOf, shown } from './project.ts';

const formats = ['tree', 'mermaid', 'svg'] as const;
type Format = (typeof formats)[number];

export async function run(args: readonly string[], io: Io): Promise<number> {
  const { values, positionals } = readArgs(
    args,
    { format: { type: 'string', short: 'f' }, output: { type: 'string', short: 'o' } },
    { min: 1, max: 1, what: 'workflow' },
  );
  const format = formatOf(values.format, values.output);
  const graph = createGraph(definitionOf(positionals[0] ?? '', io, 'drawn'));
  if (values.output !== undefined && /\.ya?ml$/i.test(values.output)) {
    throw usageError(`'${values.output}' looks like a workflow, which the drawing would overwrite.`);
  }
  if (values.output === undefined) {
    io.stdout.write(await draw(graph, format, io.stdout, io.unicode));
    return exit.ok;
  }
  save(
    resolve(io.cwd, values.output),
    await draw(graph, format, { ...io.stdout, colour: false, columns: undefined }, true),
  );
  io.stderr.write(`Wrote ${shown(resolve(io.cwd, values.output), io)}\n`);
  return exit.ok;
}

function formatOf(asked: string | undefined, output: string | undefined): Format {
  if (asked === undefined) {
    const extension = extname(output ?? '').toLowerCase();
    if (extension === '.svg') return 'svg';
    if (extension === '.mmd' || extension === '.mermaid') return 'mermaid';
    if (output === undefined || extension === '' || extension === '.txt') return 'tree';
    throw usageError(`Unknown format for '${output}': use --format, or the extension .svg, .mmd or .txt.`);
  }
  const format = formats.find((one) => one === asked);
  if (format) return format;
  const meant = nearest(asked, formats);
  throw usageError(
    `Unknown format '${asked}'. ${meant === undefined ? `Use one of: ${formats.join(', ')}.` : `Did you mean '${meant}'?`}`,
  );
}

async function draw(graph: Graph, format: Format, output: Output, unicode: boolean): Promise<string> {
  switch (format) {
    case 'tree':
      return (await import('./graph/tree.ts')).drawTree(graph, output, unicode);
    case 'mermaid':
      return (await import('./graph/mermaid.ts')).drawMermaid(graph);
    case 'svg':
      return (await import('./graph/svg.ts')).drawSvg(graph);
  }
}

function save(file: string, text: string): void {
  try {
    writeFileSync(file, text);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw notFound(`Cannot write ${file}: ${reason}`, cause);
  }
}
