import { suffixOf } from '../../machine/index.ts';
import { needCommand, needText, needVerb } from '../../messages/index.ts';
import type { Need } from '../summary/find-needs.ts';
import type { RunSummary } from '../summary/summarize-run.ts';
import type { NeedPage, Row, RowsRequest } from './pages.ts';

/** A row as it is stored: sentences are added when it is shown. */
export interface PlainRow extends Omit<Row, 'need'> {
  need?: Need;
}

/** The summary of a run as a row, which stays small however much the run needs. */
export function rowOf({ needs, ...summary }: RunSummary): PlainRow {
  const [need] = needs;
  return { ...summary, ...(need ? { need } : {}), needs: needs.length };
}

export const shownRow = ({ need, ...row }: PlainRow): Row => ({
  ...row,
  ...(need ? { need: needPage(row.run, need) } : {}),
});

export const needPage = (run: string, need: Need): NeedPage => ({
  ...need,
  say: needText(need.kind, need.title),
  verb: needVerb[need.kind],
  command: needCommand(need.kind, suffixOf(run), need.task),
});

/** Newest first; runs of the same moment by their id, so that the order never changes. */
export const byAge = (a: PlainRow, b: PlainRow): number =>
  b.createdAt - a.createdAt || (a.run < b.run ? -1 : a.run > b.run ? 1 : 0);

/** The longest wait first. */
export const byWait = (a: PlainRow, b: PlainRow): number => (a.need?.since ?? 0) - (b.need?.since ?? 0);

/** True if each word is in the id, the workflow or the summary. */
export function isWanted(row: PlainRow, { tone, text = '' }: Pick<RowsRequest, 'tone' | 'text'>): boolean {
  if (tone !== undefined && row.tone !== tone) return false;
  const searched = searchedText(row);
  return wordsIn(text).every((word) => searched.includes(word));
}

export const searchedText = ({ run, workflow, summary = '' }: PlainRow): string =>
  `${run} ${workflow} ${summary}`.toLowerCase();

export const wordsIn = (text: string): string[] =>
  text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
