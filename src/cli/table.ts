import { columnsOf } from '../messages/index.ts';
import type { Io } from './io.ts';
import { type Format, renderLine, type Span } from './paint.ts';

export type Cell = string | readonly [look: Format, text: string];

/** Columns are as wide as their widest cell; the last one is cut at the terminal's edge. */
export function table(head: readonly string[], rows: readonly (readonly Cell[])[], io: Io): string {
  const lines: (readonly Cell[])[] = [head.map((title): Cell => ['dim', title]), ...rows];
  const widths = head.map((_, column) => Math.max(...lines.map((line) => columnsOf(textOf(line[column])))));
  return lines
    .map((line) => {
      const spans = line.flatMap((cell, column): Span[] => {
        const last = column === head.length - 1;
        const space = last ? '' : ' '.repeat((widths[column] ?? 0) - columnsOf(textOf(cell)) + 2);
        return [typeof cell === 'string' ? cell : [cell[0], cell[1]], space];
      });
      return `${renderLine(spans, io.stdout, io.unicode ? '…' : '...')}\n`;
    })
    .join('');
}

export const textOf = (cell: Cell | undefined): string =>
  typeof cell === 'string' ? cell : (cell?.[1] ?? '');
