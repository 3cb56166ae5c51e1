import type { BriefingPage, JournalPage, LogPage, Row, Rows, RowsRequest, RunPage } from './pages.ts';

/** The runs of one project as a list. */
export interface RowSource {
  counts(): Promise<Record<Row['tone'], number>>;
  rows(request: RowsRequest): Promise<Rows>;
  /** Runs that need a person, the longest wait first. */
  needs(limit: number): Promise<Row[]>;
  /** Tells of every row that is new or has changed, and of runs that are gone. Returns a function that ends it. */
  subscribe(listener: (change: RowChange) => void): () => void;
}

export type RowChange = { row: Row } | { gone: string };

export interface JournalRequest {
  /** The seq of the last entry that the reader has. */
  after: number;
  limit: number;
}

export interface LogRequest {
  /** The id of a gate run, and the index of the gate in it. */
  check: string;
  gate: number;
  from: number;
}

/** What the pages of a project are made of. undefined: there is no such run. */
export interface PageSource extends RowSource {
  page(run: string): Promise<RunPage | undefined>;
  journal(run: string, request: JournalRequest): Promise<JournalPage | undefined>;
  briefing(run: string): Promise<BriefingPage | undefined>;
  log(run: string, request: LogRequest): Promise<LogPage | undefined>;
}
