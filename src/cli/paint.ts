import { stripVTControlCharacters, styleText } from 'node:util';
import { redactQuickly } from '../context/index.ts';
import { columnsOf, printable, truncate, wrap } from '../messages/index.ts';
import { type Output, wrapWidth } from './io.ts';

export type Format = Parameters<typeof styleText>[0];

/** A piece of a line: plain, or with a format. Separate, so that a line is truncated before it is colored. */
export type Span = string | readonly [format: Format, text: string];

/** One line for this output, without control characters and secrets: colored if supported, truncated to the width of a terminal. */
export function renderLine(words: readonly Span[], output: Output, ellipsis = '…'): string {
  const spans = words.map(
    (span): Span => (typeof span === 'string' ? shownText(span) : [span[0], shownText(span[1])]),
  );
  let left = output.columns ?? Number.POSITIVE_INFINITY;
  const cut = widthOf(spans) > left;
  let line = '';
  for (const [index, span] of spans.entries()) {
    const [format, text] = typeof span === 'string' ? [undefined, span] : span;
    const whole = !cut || columnsOf(text) < left;
    // Truncating the joined rest guarantees the ellipsis.
    const shown = whole ? text : truncate(spans.slice(index).map(textOf).join(''), left, columnsOf, ellipsis);
    line += format === undefined ? shown : paint(output, format, shown);
    if (!whole) break;
    left -= columnsOf(text);
  }
  return line.trimEnd();
}

/** Prints sentences; on a terminal wrapped at spaces, because the terminal itself breaks words. */
export function printWrapped(text: string, output: Output): void {
  const measure = (part: string): number => columnsOf(stripVTControlCharacters(part));
  const lines = output.columns === undefined ? [text] : wrap(text, wrapWidth(output), measure);
  output.write(`${lines.join('\n')}\n`);
}

/** Redacts before layout: a multi-line key is not recognized on one line. */
const shownText = (text: string): string => printable(redactQuickly(text));

/** Colors depend on `colour` only, not on styleText's own detection. */
export const paint = (output: Output, format: Format, text: string): string =>
  output.colour && text !== '' ? styleText(format, text, { validateStream: false }) : text;

const widthOf = (spans: readonly Span[]): number => columnsOf(spans.map(textOf).join(''));

const textOf = (span: Span): string => (typeof span === 'string' ? span : span[1]);

/** A line in pieces that fit the terminal, all but the first indented further. */
export function fitted(line: string, { columns }: Pick<Output, 'columns'>): string[] {
  if (columns === undefined || columnsOf(line) <= columns) return [line];
  const indent = /^\s*/.exec(line)?.[0] ?? '';
  const parts = wrap(line, columns - indent.length - 4);
  return parts.map((part, index) => `${indent}${index === 0 ? '' : '    '}${part}`);
}
