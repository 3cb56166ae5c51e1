import { columnsOf, graphemes, printable, truncate } from '../messages/index.ts';
import type { Span } from './paint.ts';

export interface Frame {
  text: string;
  /** Columns before the caret. */
  indent: number;
  caret: string;
}

/** The source line and its caret, cut around the column if the line is too long. */
export function frameOf(sourceLine: string, column: number, room: number): Frame | undefined {
  if (sourceLine.trim() === '') return undefined;
  // Measuring is slow, so the line is shortened first.
  const before = printable(sourceLine.slice(Math.max(0, column - 1 - 4 * room), column - 1));
  const rest = printable(sourceLine.slice(column - 1, column - 1 + 4 * room));
  const lead = keepEnd(before, Math.floor(room / 2));
  const shown = truncate(rest, Math.max(8, room - columnsOf(lead)), columnsOf);
  const token = /^("[^"]*"|'[^']*'|[\p{L}\p{N}_.{}$/@-]+)/u.exec(shown)?.[0] ?? '';
  return { text: lead + shown, indent: columnsOf(lead), caret: '^'.repeat(Math.max(1, columnsOf(token))) };
}

/** `   12 │ source`, the caret below it. */
export function frameLines(frame: Frame, line: number, bar: string, look: 'red' | 'yellow'): Span[][] {
  const number = String(line).padStart(5);
  return [
    [['dim', `${number} ${bar} `], frame.text],
    [['dim', `${' '.repeat(number.length)} ${bar} `], ' '.repeat(frame.indent), [look, frame.caret]],
  ];
}

function keepEnd(text: string, room: number): string {
  if (columnsOf(text) <= room) return text;
  const kept = graphemes(text);
  let width = columnsOf(text);
  while (width > room - 1) width -= columnsOf(kept.shift() ?? ' ');
  return `…${kept.join('')}`;
}
