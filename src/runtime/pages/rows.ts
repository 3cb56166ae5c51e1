import type { RunSummary } from '../summary/summarize-run.ts';
import type { Row, RowsRequest } from './pages.ts';

/** The summary of a run as a row, which stays small however much the run needs. */
export function rowOf({ needs, ...summary }: RunSummary): Row {
  const [need] = needs;
  return { ...summary, ...(need ? { need } : {}), needs: needs.length };
}

/** Newest first; runs of the same moment by their id, so that the order never changes. */
export const byAge = (a: Row, b: Row): number =>
  b.createdAt - a.createdAt || (a.run < b.run ? -1 : a.run > b.run ? 1 : 0);

/** The longest wait first. */
export const byWait = (a: Row, b: Row): number => (a.need?.since ?? 0) - (b.need?.since ?? 0);

/** True if each word is in the id, the workflow or the summary. */
export function isWanted(row: Row, { tone, text = '' }: Pick<RowsRequest, 'tone' | 'text'>): boolean {
  if (tone !== undefined && row.tone !== tone) return false;
  const searched = searchedText(row);
  return wordsIn(text).every((word) => searched.includes(word));
}

export const searchedText = ({ run, workflow, summary = '' }: Row): string =>
  `${run} ${workflow} ${summary}`.toLowerCase();

export const wordsIn = (text: string): string[] =>
  text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
