import { styleText } from 'node:util';
import { redactQuickly } from '../context/index.ts';
import { columnsOf, printable, truncate } from '../messages/index.ts';
import type { Output } from './io.ts';

export type Format = Parameters<typeof styleText>[0];

/** A piece of a line: plain, or with a format. Kept apart from the text so that a line is cut before it is coloured. */
export type Span = string | readonly [format: Format, text: string];

/** One line for this output, safe to show whoever wrote its words, and without secrets: coloured if it shows colours, cut to its width if it is a terminal. */
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
    // With what follows it the text is surely too wide, so the ellipsis is never forgotten.
    const shown = whole ? text : truncate(spans.slice(index).map(textOf).join(''), left, columnsOf, ellipsis);
    line += format === undefined ? shown : paint(output, format, shown);
    if (!whole) break;
    left -= columnsOf(text);
  }
  return line.trimEnd();
}

/** Secrets go before layout does: a key of several lines is none in one. */
const shownText = (text: string): string => printable(redactQuickly(text));

/** Only what `colour` says counts: styleText's own look at streams and environment is switched off. */
export const paint = (output: Output, format: Format, text: string): string =>
  output.colour && text !== '' ? styleText(format, text, { validateStream: false }) : text;

const widthOf = (spans: readonly Span[]): number => columnsOf(spans.map(textOf).join(''));

const textOf = (span: Span): string => (typeof span === 'string' ? span : span[1]);
