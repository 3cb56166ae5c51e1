/** The table of all samples, as docs/requirements.md shows it. */
import type { Row } from './check.ts';
import { rows as rows000 } from './rows/000.ts';
import { rows as rows001 } from './rows/001.ts';
import { rows as rows002 } from './rows/002.ts';
import { rows as rows003 } from './rows/003.ts';
import { rows as rows004 } from './rows/004.ts';

export const rows: readonly Row[] = [...rows000, ...rows001, ...rows002, ...rows003, ...rows004];

const [start, end] = ['<!-- npm run generate -->', '<!-- end of the samples -->'];

/** The page with the current table between the marks. */
export function withTable(page: string): string {
  const [before, rest = ''] = page.split(`${start}\n`);
  const [, after] = rest.split(end);
  if (after === undefined) throw new Error('The page has no place for the table.');
  return `${before}${start}\n\n${tableOf(rows)}\n\n${end}${after}`;
}

const tableOf = (all: readonly Row[]): string =>
  [
    '| sample | what it is | what is run |',
    '| --- | --- | --- |',
    ...all.map(({ id, about, check }) => {
      const does = 'excuse' in check ? `not run: ${check.excuse}` : check.does;
      return `| ${id} | ${about} | ${does} |`;
    }),
  ].join('\n');
